//! Messages between threads of one process.

use plimsoll_cluster::bus::{Bus, Heard, Hub, Message};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

fn joined(hub: &Hub, subjects: &[&str]) -> (Bus, Receiver<Heard>) {
    let (sender, heard) = channel();
    let bus = Bus::join(hub, sender);
    subjects.iter().for_each(|subject| bus.subscribe(subject));
    (bus, heard)
}

fn messages(heard: &Receiver<Heard>) -> Vec<Message> {
    let message = |heard| if let Heard::Message(message) = heard { Some(message) } else { None };
    heard.try_iter().filter_map(message).collect()
}

#[test]
fn a_message_reaches_each_connection_that_subscribed_to_its_subject() {
    let hub = Hub::default();
    let (sender, own) = joined(&hub, &["a.b"]);
    let (_one, one) = joined(&hub, &["a.*"]);
    let (_rest, rest) = joined(&hub, &["a.>", "x"]);
    let (_other, other) = joined(&hub, &["a", "a.b.c", "*", "b.>", "a.*.c"]);
    for (number, subject) in ["a.b", "a.c", "x", "a.b.d", "c"].iter().enumerate() {
        sender.publish((*subject).to_owned(), vec![number as u8]);
    }
    let numbers = |heard| messages(heard).iter().map(|message| message.payload[0]).collect::<Vec<_>>();
    assert_eq!(numbers(&own), [0]);
    assert_eq!(numbers(&one), [0, 1]);
    assert_eq!(numbers(&rest), [0, 1, 2, 3]);
    // `*` is one part: `x` and `c`.
    assert_eq!(numbers(&other), [2, 4]);
}

#[test]
fn a_question_has_one_answer_or_none() {
    let hub = Hub::default();
    let (asking, _) = joined(&hub, &[]);
    let unheard = asking.request("clock", vec![1], SOON);
    assert_eq!(unheard, Err("no connection answers".to_owned()));
    let (answering, questions) = joined(&hub, &["clock"]);
    let answers = std::thread::spawn(move || {
        let Ok(Heard::Message(question)) = questions.recv() else { panic!("a question") };
        let reply = question.reply.expect("an answer is expected");
        answering.publish(reply.clone(), [question.payload, vec![2]].concat());
        // The one who asked has its answer.
        answering.publish(reply, vec![3]);
        questions
    });
    assert_eq!(asking.request("clock", vec![1], SOON), Ok(vec![1, 2]));
    let questions = answers.join().expect("it answers");
    assert_eq!(asking.request("clock", vec![1], Duration::ZERO), Err("no answer".to_owned()));
    assert_eq!(messages(&questions).len(), 1);
}

#[test]
fn a_closed_connection_and_one_whose_receiver_is_gone_hear_nothing() {
    let hub = Hub::default();
    let (sender, _) = joined(&hub, &[]);
    let (closed, heard) = joined(&hub, &["a"]);
    drop(joined(&hub, &["a"]));
    sender.publish("a".into(), vec![1]);
    closed.close();
    sender.publish("a".into(), vec![2]);
    assert_eq!(messages(&heard).len(), 1);
    assert_eq!(sender.request("a", Vec::new(), SOON), Err("no connection answers".to_owned()));
    assert_eq!((sender.server_version(), sender.max_payload()), (None, usize::MAX));
}
