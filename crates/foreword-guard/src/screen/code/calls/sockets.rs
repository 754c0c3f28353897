//! Connections of languages without a grammar.

use super::Parts;
use crate::screen::code::effect::Act;
use crate::screen::code::machine::Machine;
use crate::screen::code::value::{Marks, Origin, Value};

impl Machine<'_> {
    pub(super) fn sockets(&mut self, path: &str, last: &str, parts: &Parts<'_>) -> Option<Value> {
        if !self.language().is_loose() {
            return None;
        }
        let (line, first) = (parts.line, parts.first_or_nothing());
        let receiver = parts.receiver_or_nothing();
        match last {
            "tcp" | "tcp4" | "tcp6" if path.starts_with("socket.") => Some(Value::path("socket")),
            "inet_aton" | "inet_addr" | "sockaddr_in" | "pack_sockaddr_in"
            | "InetSocketAddress" | "IPEndPoint" => {
                let text = parts.args.iter().find(|v| v.text.is_some());
                Some(text.cloned().unwrap_or_default())
            }
            "Listen" | "bind" | "TcpListener.bind" | "ServerSocket" | "stream_socket_server"
                if last != "bind" || path.contains("Listener") =>
            {
                self.add(Act::Listen, path, Marks::default(), line);
                Some(Value::path("socket"))
            }
            // Perl and C: the address is put together before.
            "connect" if path == "connect" && parts.args.len() >= 2 => {
                let host = parts.args.iter().find_map(|v| v.as_text().filter(|t| t.contains('.')));
                let host = host.unwrap_or_default().to_owned();
                self.add(Act::Connect, &host, parts.given(), line);
                Some(Value::default())
            }
            "fgets" | "fread" | "stream_get_line" | "socket_read" | "receive" | "readLine"
                if path.contains("socket") || first.path.as_deref() == Some("socket") =>
            {
                let from = if path.contains("socket") { receiver } else { first };
                let host = match from.as_text() {
                    Some(host) => host.to_owned(),
                    None => self.connected.get(&self.file).cloned().unwrap_or_default(),
                };
                Some(Value::marked(self.mark(Origin::Fetched, host, line)))
            }
            "new" if path.contains("Socket") => {
                let host = parts.named(&["PeerAddr", "PeerHost"]).or_else(|| {
                    parts.args.iter().find(|v| v.as_text().is_some_and(|t| t.contains('.')))
                });
                let host = host.and_then(Value::as_text).unwrap_or_default().to_owned();
                self.add(Act::Connect, &host, Marks::default(), line);
                Some(Value { text: Some(host.into()), ..Value::path("socket") })
            }
            "fsockopen"
            | "Dial"
            | "TcpStream.connect"
            | "connect"
            | "TcpClient"
            | "DialTimeout"
            | "stream_socket_client"
            | "Socket" => {
                let host = parts.args.iter().find_map(|v| v.as_text().filter(|t| t.contains('.')));
                let host = host?.to_owned();
                self.connected.insert(self.file, host.clone());
                self.add(Act::Connect, &host, parts.given(), line);
                Some(Value { text: Some(host.into()), ..Value::path("socket") })
            }
            "write_all" | "Write" | "fwrite" | "Fprintf" | "fputs" | "send"
                if path.contains("socket")
                    || parts.args.iter().any(|v| v.path.as_deref() == Some("socket")) =>
            {
                let to = parts.args.iter().chain(parts.receiver);
                let to =
                    to.filter(|v| v.path.as_deref() == Some("socket")).find_map(Value::as_text);
                let target = to.unwrap_or_default().to_owned();
                self.add(Act::Connect, &target, parts.marks(), line);
                Some(Value::default())
            }
            _ => None,
        }
    }
}
