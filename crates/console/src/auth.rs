//! Authentication: the token of the printed address, or the password, opens a session. A session has two halves. The
//! browser sends the cookie with every request, including those to other ports of the host, where other programs may
//! listen; it only allows reading. The key is not in a cookie: the page receives it after the `#` of the address,
//! which browsers never send, and returns it in a header, which only the console's own pages can do. Every change
//! requires both.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of sessions. Each is a signed-in browser; more indicate a mistake or an attack.
const SESSIONS_MAX: usize = 1_000;

/// Secrets of this process, which are lost when it ends.
pub struct Auth {
    /// Part of the printed address.
    token: String,
    password: Option<String>,
    cookie: String,
    is_secure: bool,
    /// Ordered by last use; the most recent session is last.
    sessions: Mutex<VecDeque<Session>>,
    random: fn() -> Result<[u8; 32], String>,
}

struct Session {
    /// Number in order of creation.
    number: u64,
    cookie: String,
    key: String,
}

/// What a browser receives when it signs in.
pub struct Opened {
    /// Value of `Set-Cookie`.
    pub cookie: String,
    /// Redirect target: the list, with the key after the `#`.
    pub location: String,
}

/// The key of a session whose cookie was sent.
pub struct Key {
    /// Number of the session.
    pub number: u64,
    key: String,
}

impl Key {
    pub fn is(&self, given: &str) -> bool {
        same(&self.key, given)
    }
}

impl Auth {
    /// Creates the secrets: a new token and, optionally, a password, which requires TLS.
    ///
    /// # Errors
    /// Returns an error if no random bytes are available.
    pub fn new(
        password: Option<String>,
        port: u16,
        random: fn() -> Result<[u8; 32], String>,
    ) -> Result<Self, String> {
        let is_secure = password.is_some();
        // Cookies ignore ports: without the port in its name, a second console would overwrite the first one's. The
        // prefix prevents servers of parent or child domains from setting it (RFC 6265bis, 4.1.3.2); it requires
        // HTTPS.
        let prefix = if is_secure { "__Host-" } else { "" };
        let cookie = format!("{prefix}plimsoll-{port}");
        Ok(Self { token: hex(&random()?), password, cookie, is_secure, sessions: Mutex::default(), random })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    pub fn is_token(&self, given: &str) -> bool {
        same(&self.token, given)
    }

    pub fn is_password(&self, given: &str) -> bool {
        self.password.as_deref().is_some_and(|password| same(password, given))
    }

    /// Opens a session.
    ///
    /// # Errors
    /// Returns an error if no random bytes are available.
    pub fn open(&self) -> Result<Opened, String> {
        let (cookie, key) = (hex(&(self.random)()?), hex(&(self.random)()?));
        let mut sessions = self.sessions();
        let number = sessions.iter().map(|one| one.number + 1).max().unwrap_or_default();
        let session = Session { number, cookie, key };
        if sessions.len() >= SESSIONS_MAX {
            // The session that has been unused for the longest time ends.
            sessions.pop_front();
        }
        let secure = if self.is_secure { "; Secure" } else { "" };
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie, session.cookie);
        let location = format!("/#key={}", session.key);
        sessions.push_back(session);
        Ok(Opened { cookie, location })
    }

    /// Returns the key of the session that one of the cookies identifies, if any.
    pub fn session(&self, cookies: &str) -> Option<Key> {
        let mine = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut sessions = self.sessions();
        // Compares all of them, so that the time does not reveal which one is close.
        let found = mine.filter(|(name, _)| *name == self.cookie).find_map(|(_, value)| {
            let look = |found, (at, one): (usize, &Session)| {
                if same(&one.cookie, value) { Some(at) } else { found }
            };
            sessions.iter().enumerate().fold(None, look)
        });
        let used = found.and_then(|at| sessions.remove(at))?;
        let key = Key { number: used.number, key: used.key.clone() };
        sessions.push_back(used);
        Some(key)
    }

    /// A thread that panicked while holding the lock cannot have left the state inconsistent.
    fn sessions(&self) -> MutexGuard<'_, VecDeque<Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compares in a time that depends on the longer text, never on where they differ.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut differs = u8::from(a.len() != b.len());
    for at in 0..a.len().max(b.len()) {
        let pair = (a.get(at).copied().unwrap_or(0), b.get(at).copied().unwrap_or(0));
        // Without `black_box`, the compiler might leave the loop at the first difference.
        differs = black_box(differs | (pair.0 ^ pair.1));
    }
    differs == 0
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns other bytes each time.
    fn random() -> Result<[u8; 32], String> {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_be_bytes());
        Ok(bytes)
    }

    fn pair(opened: &Opened) -> &str {
        opened.cookie.split(';').next().unwrap()
    }

    #[test]
    fn one_more_browser_comes_in_for_the_one_unused_longest() {
        let auth = Auth::new(None, 7, random).unwrap();
        let [first, second] = [(); 2].map(|()| auth.open().unwrap());
        for _ in 2..SESSIONS_MAX {
            auth.open().unwrap();
        }
        assert!(auth.session(pair(&first)).is_some());
        auth.open().unwrap();
        assert!(auth.session(pair(&first)).is_some() && auth.session(pair(&second)).is_none());
    }

    #[test]
    fn only_the_whole_token_and_the_own_cookie_open_the_door() {
        let auth = Auth::new(None, 7, || Ok([7; 32])).unwrap();
        let token = auth.token().to_owned();
        assert!(auth.is_token(&token));
        for wrong in ["", &token[1..], &format!("{token}0"), &token.replace('7', "8")] {
            assert!(!auth.is_token(wrong), "{wrong}");
        }
        let is_in = |cookies: &str| auth.session(cookies).is_some();
        assert!(!auth.is_password("") && !is_in("plimsoll-7="));
        let opened = auth.open().unwrap();
        let pair = pair(&opened);
        assert!(is_in(pair) && is_in(&format!("a=b; {pair}")));
        assert!(!is_in(&pair.replace("plimsoll-7", "plimsoll-8")) && !is_in(&pair[..pair.len() - 1]));
    }

    #[test]
    fn each_session_has_a_key_of_its_own_which_is_not_its_cookie() {
        let auth = Auth::new(Some("a".into()), 7, random).unwrap();
        let [one, other] = [(); 2].map(|()| auth.open().unwrap());
        let key = |opened: &Opened| opened.location.strip_prefix("/#key=").unwrap().to_owned();
        let held = auth.session(pair(&one)).unwrap();
        assert!(held.is(&key(&one)));
        for wrong in [key(&other), pair(&one).split_once('=').unwrap().1.to_owned(), String::new()] {
            assert!(!held.is(&wrong), "{wrong}");
        }
        assert!(one.cookie.starts_with("__Host-plimsoll-7=") && one.cookie.contains("; Secure"));
        assert!(!one.cookie.contains(&key(&one)));
    }
}
