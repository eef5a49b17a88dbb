//! zeep as a client of our server, in `rpc`: what a call costs a program in Python.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::external::{Process, path, write, write_messages};
use super::servers::{Server, ServerProcess, folder, python};
use crate::clock::Taken;
use crate::definition::Task;
use crate::job::{Calls, Engine, Job, Times};
use crate::terms::WSDL;
use crate::workload::{Answer, Workload};

const CLIENT: &str = include_str!("../../engines/zeep/client.py");

/// zeep, installed.
pub(crate) struct Zeep {
    python: String,
    folder: PathBuf,
    server: Server,
}

impl Zeep {
    /// Looks for zeep.
    ///
    /// # Errors
    /// It is not installed.
    pub(crate) fn find() -> Result<Self, String> {
        let python = python("import zeep", "zeep")?;
        let folder = folder("rpc-zeep")?;
        write(&folder, &[("bench.wsdl", WSDL), ("client.py", CLIENT)])?;
        Ok(Self {
            python,
            folder,
            server: Server::own("bsoap")?,
        })
    }
}

impl Engine for Zeep {
    /// One connection: threads of one Python process take turns, and calls through many connections would say nothing more.
    fn job(&mut self, work: &Arc<Workload>) -> Result<Option<Box<dyn Job>>, String> {
        if work.task != Task::Call || work.connections() > 1 {
            return Ok(None);
        }
        let server = self.server.start()?;
        let mut client = Command::new(&self.python);
        let mut client = Process::start(client.arg(self.folder.join("client.py")))?;
        let text = self.folder.join("text");
        write_messages(&text, work)?;
        client.ask(&json!({
            "do": "prepare", "wsdl": path(&self.folder.join("bench.wsdl"))?, "text": path(&text)?,
            "binding": "{urn:bsoap:bench}Bench", "address": format!("http://{}/bench", server.address),
        }))?;
        Ok(Some(Box::new(Session {
            client,
            server,
            times: Times::default(),
        })))
    }
}

/// A client and its server.
struct Session {
    client: Process,
    server: ServerProcess,
    times: Times,
}

impl Job for Session {
    fn answer(&mut self) -> Result<Answer, String> {
        let reply = self.client.ask(&json!({"do": "answer"}))?;
        Ok(Answer::Verdict(reply["right"] == true))
    }

    fn run(&mut self, times: u64) -> Result<Taken, String> {
        let before = self.server.time();
        let reply = self.client.ask(&json!({"do": "run", "times": times}))?;
        let served = self.server.time().saturating_sub(before);
        let time = |name: &str| reply[name].as_u64().map(Duration::from_nanos);
        let calls = reply["calls"].as_array();
        let (Some(wall), Some(client), Some(calls)) = (time("ns"), time("cpu_ns"), calls) else {
            return Err(format!("the client answered {reply}"));
        };
        let calls = calls.iter().filter_map(Value::as_u64);
        self.times.add(calls, client, served);
        Ok(Taken { wall, cpu: served })
    }

    fn calls(&mut self) -> Option<Calls> {
        Some(self.times.summary())
    }
}
