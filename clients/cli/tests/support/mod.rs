//! The running stack, the command with a home of its own, and a service that answers what it is told to.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use uuid::Uuid;

/// How a picture of one pixel begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

/// Longest wait for what must come: as long as that of all other tests, far above what a slow machine takes.
const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until `look` finds something.
async fn eventually<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, found).await;
    found.unwrap_or_else(|_| panic!("not within {} s: {what}", PATIENCE.as_secs()))
}

/// The running stack: that of `make test`, or else that of `make run`.
pub struct Stack {
    map: Value,
    http: reqwest::Client,
}

impl Stack {
    pub fn connect() -> Self {
        let of_checkout = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.local/stack.json");
        let file = env::var_os("MOMENTS_STACK").map_or_else(of_checkout, PathBuf::from);
        let map =
            fs::read_to_string(file).expect("no stack is running: use `make test`, or `make run` in another terminal");
        Self { map: serde_json::from_str(&map).expect("stack.json can be read"), http: reqwest::Client::new() }
    }

    pub fn api(&self) -> &str {
        self.map["api"].as_str().expect("an address")
    }

    /// The code in the mail with the code of this number to an address, from 0, once it is there.
    pub async fn code(&self, email: &str, at: usize) -> String {
        let list = self.map["mail"].as_str().expect("an address");
        eventually(&format!("a mail with a code for {email}"), async || {
            let sent: Value = self.http.get(list).send().await.expect("mails").json().await.expect("mails");
            let mails = sent["messages"].as_object().expect("mails").values().filter_map(Value::as_array).flatten();
            let texts = mails.filter(|mail| mail["To"][0] == email).filter_map(|mail| mail["BodyText"].as_str());
            let (_, rest) = texts.filter_map(|text| text.split_once("code is ")).nth(at)?;
            let code = rest.split(|letter: char| !letter.is_ascii_digit()).find(|word| word.len() == 6);
            Some(code.expect("a code").to_owned())
        })
        .await
    }

    /// Reads a path until what it answers is as it should be.
    pub async fn wait_until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually(&format!("{path} as awaited"), async || {
            let answer = self.http.get(format!("{}{path}", self.api())).send().await.expect("an answer");
            let body: Value = answer.json().await.expect("JSON");
            is_so(&body).then_some(body)
        })
        .await
    }

    /// Whose a key is; the status if it is refused.
    pub async fn whose(&self, key: &str) -> Result<Value, u16> {
        let request = self.http.get(format!("{}/me", self.api())).header("x-api-key", key);
        let answer = request.send().await.expect("an answer");
        if answer.status() == 200 { Ok(answer.json().await.expect("JSON")) } else { Err(answer.status().as_u16()) }
    }

    /// Gives an account one ETH.
    pub async fn give_money(&self, account: &str) {
        let params = json!([account, "0xde0b6b3a7640000"]);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_setBalance", "params": params});
        let node = self.map["rpc"]["8453"].as_str().expect("an address");
        self.http.post(node).json(&call).send().await.expect("an answer").error_for_status().expect("success");
    }
}

/// A folder for one person's settings and files.
pub struct Home {
    folder: PathBuf,
    api: Option<String>,
}

impl Home {
    /// With `api` as the service that commands call.
    pub fn new(api: Option<&str>) -> Self {
        let folder = env::temp_dir().join(format!("moments-{}", Uuid::new_v4()));
        fs::create_dir(&folder).expect("a folder");
        Self { folder, api: api.map(str::to_owned) }
    }

    pub fn credentials(&self) -> PathBuf {
        self.folder.join("moments/credentials.json")
    }

    /// The key that is stored.
    pub fn key(&self) -> String {
        let text = fs::read_to_string(self.credentials()).expect("credentials");
        serde_json::from_str::<Value>(&text).expect("JSON")["key"].as_str().expect("a key").to_owned()
    }

    /// A picture that nobody else has, by this name.
    pub fn picture(&self, name: &str) -> String {
        let path = self.folder.join(name);
        fs::write(&path, [PNG, Uuid::new_v4().as_bytes()].concat()).expect("a file");
        path.to_str().expect("a path").to_owned()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_moments"));
        command.args(arguments).current_dir(&self.folder).env("XDG_CONFIG_HOME", &self.folder);
        command.env_remove("MOMENTS_API_KEY").env_remove("MOMENTS_API").stdin(Stdio::null());
        if let Some(api) = &self.api {
            command.env("MOMENTS_API", api);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().expect("it runs"))
    }

    /// Starts a command that is spoken with.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
    }

    /// Signs a new artist in, and answers their account.
    pub async fn sign_in(&self, stack: &Stack) -> String {
        self.sign_in_as(stack, &unused_email(), 0).await
    }

    /// Signs an artist in who has been mailed so many codes, and answers their account.
    pub async fn sign_in_as(&self, stack: &Stack, email: &str, codes: usize) -> String {
        let mut child = self.start(&["--json", "sign-in", email]);
        let code = stack.code(email, codes).await;
        writeln!(child.stdin.take().expect("an input"), "{code}").expect("it reads");
        let ran = Ran::of(child.wait_with_output().expect("it ends")).expect(0);
        ran.json()["artist"]["address"].as_str().expect("an account").to_owned()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub errors: String,
}

impl Ran {
    pub fn of(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { status: status.code().expect("a status"), out: text(stdout), errors: text(stderr) }
    }

    pub fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Its only output, which is JSON on one line.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// Expects that it failed with one line that has this in it.
    pub fn expect_error(self, status: i32, part: &str) {
        let ran = self.expect(status);
        let is_one_line = ran.errors.starts_with("error: ") && ran.errors.lines().count() == 1;
        assert!(is_one_line && ran.errors.contains(part) && ran.out.is_empty(), "{part} isn't in {ran:?}");
    }
}

pub fn unused_email() -> String {
    format!("{}@example.com", Uuid::new_v4().simple())
}

/// Answers one request after another with these statuses, headers and bodies; 0 ends the connection without an answer.
/// Returns the address, and in the end each request's head and body.
pub fn pretend(answers: Vec<(u16, &'static str, Value)>) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/api", listener.local_addr().expect("an address"));
    let served = move || {
        let serve = |(status, headers, body): (u16, &str, Value)| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let request = request(&stream);
            if status != 0 {
                let body = body.to_string();
                let head =
                    format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}");
                write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("it listens");
            }
            request
        };
        answers.into_iter().map(serve).collect()
    };
    (address, thread::spawn(served))
}

/// Head and body of a request.
fn request(stream: &TcpStream) -> String {
    let (mut reader, mut request) = (BufReader::new(stream), String::new());
    while !request.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut request).expect("a line"), 0, "the request ends: {request}");
    }
    let length = request.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    request + &String::from_utf8(body).expect("UTF-8")
}
