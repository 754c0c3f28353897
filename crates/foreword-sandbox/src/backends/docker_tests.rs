use super::*;
use crate::testing::Place;

fn docker() -> Docker {
    Docker {
        program: "/usr/bin/docker".into(),
        image: "-agents:1".into(),
        user: "1000:1000".into(),
    }
}

#[test]
fn the_container_has_no_network_a_read_only_root_and_the_plan() {
    let place = Place::new(&["w/SOUL.md", "w/sub/AGENTS.md"]);
    let command = docker().command(&place.spec(&["SOUL.md", "sub/AGENTS.md"])).unwrap();
    insta::assert_snapshot!(place.lines(&command));
    assert!(!docker().guarantees().dies_with_host && !docker().guarantees().advisory());
}

#[test]
fn no_path_can_be_taken_for_another_option_of_a_mount() {
    for (path, option) in [
        ("/plain", "source=/plain"),
        ("/a b'c", "source=/a b'c"),
        ("/x,readonly=false", "\"source=/x,readonly=false\""),
        ("/q\"uo\"te", "\"source=/q\"\"uo\"\"te\""),
        ("/new\nline", "\"source=/new\nline\""),
        ("/=;$(x)", "source=/=;$(x)"),
    ] {
        assert_eq!(field(Path::new(path), "source", Path::new(path)).unwrap(), option);
    }
    let error = field(Path::new("/a\r"), "source", Path::new("/a\r")).unwrap_err();
    assert!(error.to_string().contains("docker does not support a carriage return"));
    #[cfg(unix)]
    {
        let raw =
            Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/\xff"));
        assert!(field(raw, "source", raw).unwrap_err().to_string().contains("not Unicode"));
    }
}

#[test]
fn an_engine_that_is_not_there_is_told() {
    let docker = Docker::new("/nowhere/docker".into(), "image".into());
    let error = docker.trial().unwrap_err().to_string();
    assert!(error.starts_with("sandbox docker is unavailable: /nowhere/docker: "), "{error}");
    assert!(error.contains("install and start Docker"));
}
