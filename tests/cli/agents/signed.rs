//! Orders that are signed with the key of the coordinator, over a server without permissions, and over a relay that
//! changes or repeats them.

use super::server::{Server, ends};
use crate::support::{Output, Ruler, Running, Scratch, Tool};
use plimsoll_cluster::bus::{Access, Bus, Heard, Message};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Keys of two coordinators.
struct Keys {
    scratch: Scratch,
}

impl Keys {
    fn new() -> Keys {
        let scratch = Scratch::new();
        for name in ["own", "other"] {
            Tool::run(&["cluster", "init", &scratch.path(name), "--agents", "a"]).expect_code(0);
        }
        Keys { scratch }
    }

    /// Starts the agent `a`, which accepts only orders of the coordinator `own`.
    fn agent(&self, server: &Server) -> Running {
        let key = self.scratch.path("own/signing.pub");
        let agent = server.agent("a", &["--coordinator-key", &key]);
        server.wait_for(1);
        agent
    }

    fn load(&self, url: &str, server: &Server, coordinator: Option<&str>) -> Output {
        let nats = server.url();
        let mut words = vec![url, "-n", "5", "-c", "1", "--agents", "a", "--nats", &nats];
        let key = coordinator.map(|name| self.scratch.path(&format!("{name}/signing.nk")));
        words.extend(key.iter().flat_map(|key| ["--signing-key", key]));
        Tool::run(&words)
    }
}

#[test]
fn a_coordinator_without_the_key_of_an_agent_starts_nothing_there() {
    let (ruler, server, keys) = (Ruler::start(&[]), Server::start(), Keys::new());
    let agent = keys.agent(&server);
    let load = |coordinator| keys.load(&ruler.url("/"), &server, coordinator);
    let output = load(None).expect_code(1);
    let said = "agent `a`: it accepts only signed orders, and this one is not signed";
    assert!(output.stderr.contains(said) && output.stderr.contains("--signing-key"), "{}", output.stderr);
    let output = load(Some("other")).expect_code(1);
    assert!(
        output.stderr.contains("agent `a`: it accepts only orders signed with the key U"),
        "{}",
        output.stderr
    );
    assert_eq!(ruler.requests(), 0);
    load(Some("own")).expect_code(0);
    assert_eq!(ruler.requests(), 5);
    let output = ends(agent);
    assert_eq!(output.code, 0);
    assert_eq!(output.stderr.matches("refused an order").count(), 2, "{}", output.stderr);
    // An agent without a key accepts all.
    let agent = server.agent("a", &[]);
    server.wait_for(1);
    for coordinator in [None, Some("own"), Some("other")] {
        load(coordinator).expect_code(0);
    }
    assert_eq!((ruler.requests(), ends(agent).code), (20, 0));
}

#[test]
fn a_file_that_is_not_the_right_key_is_an_error_before_anything_starts() {
    let keys = Keys::new();
    let file = |name: &str| keys.scratch.path(&format!("own/{name}"));
    let cases: [(&[&str], i32, &str); 6] = [
        (&["agent", "--coordinator-key", &file("signing.nk")], 2, "a secret key, which only the coordinator"),
        (&["agent", "--coordinator-key", &file("ca.pem")], 2, "contains no public key"),
        (&["agent", "--coordinator-key", &file("none")], 1, "cannot read"),
        (&["http://127.0.0.1:1/", "--agents", "a", "--signing-key", &file("signing.pub")], 2, "cannot sign"),
        (&["http://127.0.0.1:1/", "--agents", "a", "--signing-key", &file("ca.pem")], 2, "no secret key"),
        (
            &["http://127.0.0.1:1/", "--agents", "local:1", "--signing-key", &file("signing.nk")],
            2,
            "threads of this process",
        ),
    ];
    for (words, code, said) in cases {
        // Without a server at this address: the key is read first.
        let nats: &[&str] = if words.contains(&"local:1") { &[] } else { &["--nats", "nats://127.0.0.1:1"] };
        let output = Tool::run(&[words, nats].concat()).expect_code(code);
        assert!(output.stderr.contains(said), "{words:?}: {}", output.stderr);
    }
}

/// A connection that hears some subjects.
fn connected(server: &Server, subjects: &[&str]) -> (Bus, Receiver<Heard>) {
    let (sender, heard) = channel();
    let access = Access { url: server.url(), inbox: "_INBOX_relay".into(), ..Access::default() };
    let bus = Bus::connect(access, sender).expect("the server listens");
    subjects.iter().for_each(|subject| bus.subscribe(subject));
    (bus, heard)
}

fn messages(heard: Receiver<Heard>) -> impl Iterator<Item = Message> {
    heard.into_iter().filter_map(|heard| match heard {
        Heard::Message(message) => Some(message),
        Heard::Change(_) => None,
    })
}

/// Passes on everything between a coordinator at one server and agents at another one; each order becomes those that
/// `orders` returns.
fn relay(near: &Server, far: &Server, mut orders: impl FnMut(Vec<u8>) -> Vec<Vec<u8>> + Send + 'static) {
    const ORDER: &str = "plimsoll.v1.order.a";
    let (to_near, from_near) = connected(near, &[ORDER, "plimsoll.v1.roll_call"]);
    let (to_far, from_far) = connected(far, &["plimsoll.v1.agent.>", "plimsoll.v1.run.>"]);
    let back = to_far.clone();
    std::thread::spawn(move || {
        for message in messages(from_near) {
            let payloads =
                if message.subject == ORDER { orders(message.payload) } else { vec![message.payload] };
            payloads.into_iter().for_each(|payload| to_far.publish(message.subject.clone(), payload));
        }
    });
    std::thread::spawn(move || {
        for Message { subject, reply, payload } in messages(from_far) {
            let Some(reply) = reply else {
                to_near.publish(subject, payload);
                continue;
            };
            if let Ok(answer) = to_near.request(&subject, payload, Duration::from_secs(2)) {
                back.publish(reply, answer);
            }
        }
    });
}

#[test]
fn an_order_that_was_changed_on_the_way_starts_nothing() {
    for is_changed in [true, false] {
        let (ruler, near, far, keys) = (Ruler::start(&[]), Server::start(), Server::start(), Keys::new());
        let agent = keys.agent(&far);
        relay(&near, &far, move |payload| {
            let text = String::from_utf8(payload).expect("orders are text");
            let path = if is_changed { "/other" } else { "/first" };
            vec![text.replace("/first", path).into_bytes()]
        });
        near.wait_for(1);
        let output = keys.load(&ruler.url("/first"), &near, Some("own"));
        match is_changed {
            true => {
                let said = "agent `a`: the order was changed after it was signed";
                assert!(output.code == 1 && output.stderr.contains(said), "{}", output.stderr);
                assert_eq!(ruler.requests(), 0);
            }
            false => assert_eq!((output.code, ruler.requests()), (0, 5), "{}", output.stderr),
        }
        assert_eq!(ends(agent).code, 0);
    }
}

#[test]
fn a_copy_of_an_earlier_order_starts_nothing_and_the_coordinator_says_so() {
    let (ruler, near, far, keys) = (Ruler::start(&[]), Server::start(), Server::start(), Keys::new());
    let agent = keys.agent(&far);
    let mut first = None;
    relay(&near, &far, move |payload| {
        let is_task = String::from_utf8_lossy(&payload).contains("\"prepare\"");
        // Before the task of a later load, that of the first one.
        let copy = first.clone().filter(|first| is_task && *first != payload);
        if is_task {
            first.get_or_insert_with(|| payload.clone());
        }
        copy.into_iter().chain([payload]).collect()
    });
    near.wait_for(1);
    let output = keys.load(&ruler.url("/"), &near, Some("own")).expect_code(0);
    assert!(!output.stderr.contains("refused"), "{}", output.stderr);
    let output = keys.load(&ruler.url("/"), &near, Some("own")).expect_code(0);
    assert!(output.stderr.contains("agent `a` refused an order of run "), "{}", output.stderr);
    assert!(output.stderr.contains("the order is a copy of one for an earlier load"), "{}", output.stderr);
    assert_eq!(ruler.requests(), 10);
    let output = ends(agent);
    assert!(output.code == 0 && output.stderr.contains("refused an order"), "{}", output.stderr);
}
