//! Signatures of orders: an agent that knows the key of its coordinator accepts no orders of others.
//!
//! A signed order has two lines. The first one names the public key and has the signature, the second one is the order.
//! Signed are the name of the agent and the bytes of the second line. The order itself names the instance of the agent
//! and counts its loads, so a copy of an earlier order has a valid signature, and is still refused.

use crate::message::{self, Order};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, UnparsedPublicKey};
use nkeys::KeyPair;
use plimsoll_plan::Problem;
use std::fmt;

/// First word of an order with a signature, which says how it is signed.
const SIGNED: &str = "ed25519";
/// First line of an order without one.
const UNSIGNED: &str = "unsigned";
/// Prefix of what is signed, so that no other use of the key makes a valid order.
const PURPOSE: &str = "plimsoll order";
/// Where orders of others come from.
const HINT: &str = "check which clients may publish on the NATS server";

/// The secret key of a coordinator.
pub struct SigningKey {
    nkey: KeyPair,
    /// The same key for signatures: a coordinator of 1,000 agents makes more than a thousand of them per second.
    pair: Ed25519KeyPair,
}

/// Its public key, which agents know.
pub struct CoordinatorKey {
    text: String,
    bytes: [u8; 32],
}

impl SigningKey {
    /// Returns a new key.
    ///
    /// # Errors
    /// Returns an error if the machine has no source of random numbers.
    pub fn random() -> Result<SigningKey, Problem> {
        let text =
            KeyPair::new_user().seed().map_err(|e| Problem::plain(format!("cannot create a key: {e}")))?;
        Self::parse(&text)
    }

    /// Parses the content of a file with a seed.
    ///
    /// # Errors
    /// Returns an error if it is not one.
    pub fn parse(text: &str) -> Result<SigningKey, Problem> {
        let hint = "name the file `signing.nk` that `plimsoll cluster init` has written";
        let text = text.trim();
        if text.starts_with('U') {
            return Err(Problem::new("a public key, which cannot sign", hint));
        }
        let parse = || {
            let (_, seed) = nkeys::decode_seed(text).ok()?;
            let pair = Ed25519KeyPair::from_seed_unchecked(&seed).ok()?;
            Some(SigningKey { nkey: KeyPair::from_seed(text).ok()?, pair })
        };
        parse().ok_or_else(|| Problem::new("no secret key", hint))
    }

    /// Returns the seed.
    ///
    /// # Errors
    /// Returns an error if it cannot be written as text.
    pub fn seed(&self) -> Result<String, Problem> {
        self.nkey.seed().map_err(|e| Problem::plain(format!("cannot write a key: {e}")))
    }

    /// Returns the public key.
    pub fn public(&self) -> String {
        self.nkey.public_key()
    }
}

impl CoordinatorKey {
    /// Parses the content of a file with a public key.
    ///
    /// # Errors
    /// Returns an error if it is not one.
    pub fn parse(text: &str) -> Result<CoordinatorKey, Problem> {
        let hint = "name the file `signing.pub` that `plimsoll cluster init` has written";
        let text = text.trim();
        if text.starts_with("SU") {
            return Err(Problem::new("a secret key, which only the coordinator may have", hint));
        }
        let key = nkeys::from_public_key(text).ok().filter(|_| text.starts_with('U'));
        key.map(|(_, bytes)| CoordinatorKey { text: text.to_owned(), bytes })
            .ok_or_else(|| Problem::new("no public key", hint))
    }
}

impl fmt::Display for CoordinatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A received order.
#[derive(Debug, Clone, PartialEq)]
pub enum Opened {
    Accepted(Order),
    /// An order that the agent must not execute, and why.
    Refused(Order, Problem),
}

/// Writes an order for an agent, signed if there is a key.
///
/// # Errors
/// Returns an error if the key cannot sign.
pub fn seal(order: &Order, agent: &str, key: Option<&SigningKey>) -> Result<Vec<u8>, Problem> {
    let body = message::encode(order);
    let head = match key {
        Some(key) => {
            let signature = key.pair.try_sign(&signed(agent, &body));
            let signature = signature.map_err(|e| Problem::plain(format!("cannot sign an order: {e}")))?;
            format!("{SIGNED} {} {}\n", key.public(), crate::bytes::text_of(signature.as_ref()))
        }
        None => format!("{UNSIGNED}\n"),
    };
    Ok([head.as_bytes(), &body].concat())
}

/// Reads an order to an agent; returns `None` if the bytes are not one. With a key, only orders that are signed with it
/// are accepted.
pub fn open(bytes: &[u8], agent: &str, key: Option<&CoordinatorKey>) -> Option<Opened> {
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, body) = (std::str::from_utf8(&bytes[..line]).ok()?, &bytes[line + 1..]);
    let order: Order = message::decode(body).ok()?;
    let Some(key) = key else { return Some(Opened::Accepted(order)) };
    Some(match check(head, body, agent, key) {
        Ok(()) => Opened::Accepted(order),
        Err(problem) => Opened::Refused(order, problem),
    })
}

fn check(head: &str, body: &[u8], agent: &str, key: &CoordinatorKey) -> Result<(), Problem> {
    let [SIGNED, signer, signature] = head.split(' ').collect::<Vec<_>>()[..] else {
        return Err(Problem::new(
            "it accepts only signed orders, and this one is not signed",
            "add the key of `plimsoll cluster init`: `--signing-key signing.nk`",
        ));
    };
    if signer != key.text {
        return Err(Problem::new(
            format!("it accepts only orders signed with the key {key}, and this one is signed with {signer}"),
            "use the `--signing-key` that belongs to the `--coordinator-key` of the agent",
        ));
    }
    let public = UnparsedPublicKey::new(&ED25519, key.bytes);
    let is_valid = crate::bytes::bytes_of(signature)
        .is_some_and(|signature| public.verify(&signed(agent, body), &signature).is_ok());
    match is_valid {
        true => Ok(()),
        false => Err(Problem::new("the order was changed after it was signed", HINT)),
    }
}

/// Returns what is signed of an order.
fn signed(agent: &str, body: &[u8]) -> Vec<u8> {
    [format!("{PURPOSE} {agent}\n").as_bytes(), body].concat()
}

/// Returns why a copy of an earlier order is refused.
pub fn repeated() -> Problem {
    Problem::new("the order is a copy of one for an earlier load", HINT)
}
