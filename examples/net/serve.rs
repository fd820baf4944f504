//! The server.

use std::path::{Component, Path, PathBuf};

use quinn::{Connection, Endpoint, RecvStream, SendStream};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::Result;
use super::report::report;

/// Serves the folder to whoever connects, for as long as the endpoint lives; `print` gets a line for each second and
/// connection.
pub(crate) async fn serve(endpoint: Endpoint, root: PathBuf, print: fn(&str)) {
    while let Some(incoming) = endpoint.accept().await {
        let root = root.clone();
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else {
                return;
            };
            tokio::spawn(report(connection.clone(), print));
            answer_all(connection, root, print).await;
        });
    }
}

/// Answers the requests of one connection until it ends.
async fn answer_all(connection: Connection, root: PathBuf, print: fn(&str)) {
    while let Ok((mut reply, request)) = connection.accept_bi().await {
        let root = root.clone();
        tokio::spawn(async move {
            if let Err(error) = answer(&mut reply, request, &root).await {
                print(&format!("refused: {error}"));
                // HTTP/0.9 knows no errors: the stream ends early. A connection that is gone needs no reset.
                let _ = reply.reset(1u32.into());
            }
        });
    }
}

async fn answer(reply: &mut SendStream, mut request: RecvStream, root: &Path) -> Result<()> {
    let request = request.read_to_end(MAX_REQUEST).await?;
    match Resource::parse(std::str::from_utf8(&request)?)? {
        Resource::Generated(mut left) => {
            let block = vec![0; BLOCK];
            while left > 0 {
                let length = left.min(BLOCK);
                reply.write_all(&block[..length]).await?;
                left -= length;
            }
        }
        Resource::File(path) => {
            let mut file = File::open(root.join(path)).await?;
            let mut block = vec![0; BLOCK];
            loop {
                let length = file.read(&mut block).await?;
                if length == 0 {
                    break;
                }
                reply.write_all(&block[..length]).await?;
            }
        }
    }
    reply.finish()?;
    Ok(())
}

/// What a request asks for.
#[derive(Debug, PartialEq, Eq)]
enum Resource {
    /// `/20000000`: so many bytes, made up on the way.
    Generated(usize),
    /// Anything else is a file in the folder.
    File(PathBuf),
}

impl Resource {
    fn parse(request: &str) -> Result<Self> {
        let path = request.trim_end().strip_prefix("GET /");
        let path = path.ok_or("a request is GET, a space and a path from the root")?;
        if let Ok(bytes) = path.parse() {
            return Ok(Self::Generated(bytes));
        }
        let path = Path::new(path);
        // Nothing that leaves the folder: no parent, no second root, no drive.
        let inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(format!("{} leaves the folder", path.display()).into());
        }
        Ok(Self::File(path.to_owned()))
    }
}

/// Bytes.
const MAX_REQUEST: usize = 4096;
/// Bytes read and written at a time.
const BLOCK: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_generated_and_the_rest_are_files() {
        let parse = |request| Resource::parse(request).unwrap();
        assert_eq!(parse("GET /5000000\r\n"), Resource::Generated(5_000_000));
        assert_eq!(parse("GET /a/b.bin\n"), Resource::File("a/b.bin".into()));
    }

    #[test]
    fn nothing_outside_of_the_folder_is_served() {
        for request in [
            "GET /../key",
            "GET //etc/hosts",
            "GET /a/../../b",
            "PUT /a",
            "",
        ] {
            assert!(Resource::parse(request).is_err(), "{request}");
        }
    }
}
