//! Datagrams that the operating system dropped before a socket.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek};
use std::net::SocketAddr;
use std::sync::Mutex;

use super::lock;

/// The system's tables of sockets. They stay open: who floods the relay may use up its files.
#[derive(Debug)]
pub(super) struct Unread(Mutex<Vec<File>>);

impl Unread {
    pub(super) fn open() -> Self {
        let tables = ["/proc/net/udp", "/proc/net/udp6"].map(File::open);
        // A system may go without IPv6, or without tables.
        Self(Mutex::new(tables.into_iter().flatten().collect()))
    }

    /// The datagrams that came to these addresses and found no room in their sockets' buffers; `None` if the system does
    /// not say.
    pub(super) fn datagrams(&self, addresses: impl Iterator<Item = SocketAddr>) -> Option<u64> {
        let addresses: HashSet<String> = addresses.map(kernel_form).collect();
        let mut total = None;
        for table in &mut *lock(&self.0) {
            let mut text = String::new();
            table.rewind().ok()?;
            table.read_to_string(&mut text).ok()?;
            total = Some(total.unwrap_or(0) + dropped(&text, &addresses));
        }
        total
    }
}

/// The last column, of the lines whose second one is among the addresses.
fn dropped(table: &str, addresses: &HashSet<String>) -> u64 {
    let count = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        let known = addresses.contains(columns.nth(1)?);
        let drops: u64 = columns.next_back()?.parse().ok()?;
        known.then_some(drops)
    };
    table.lines().filter_map(count).sum()
}

/// The address as the kernel prints it: words of the address in memory as numbers of this machine, all in hexadecimal.
fn kernel_form(address: SocketAddr) -> String {
    let octets = match address {
        SocketAddr::V4(address) => address.ip().octets().to_vec(),
        SocketAddr::V6(address) => address.ip().octets().to_vec(),
    };
    let words = octets.chunks_exact(4).map(|word| {
        let word = <[u8; 4]>::try_from(word).unwrap_or_default();
        format!("{:08X}", u32::from_ne_bytes(word))
    });
    format!("{}:{:04X}", words.collect::<String>(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn the_kernel_table_is_read() {
        let table = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
             123: 0100007F:1151 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 20611 2 0000000000000000 12\n\
             124: 0100007F:1152 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 20612 2 0000000000000000 5\n\
             125: 00000000000000000000000001000000:1151 0:0 07 0:0 00:0 0 0 0 20613 2 0 30\n";
        let of = |addresses: &[&str]| {
            let addresses = addresses
                .iter()
                .map(|address| kernel_form(address.parse().unwrap()));
            dropped(table, &addresses.collect())
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&["127.0.0.1:4433"]), 12);
        assert_eq!(of(&["127.0.0.1:4434", "[::1]:4433"]), 35);
        assert_eq!(of(&["127.0.0.1:9"]), 0);
    }
}
