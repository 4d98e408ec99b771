//! Who may come in: whoever has the token of the printed address, or the password, gets a session as a cookie.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most sessions at a time: each is a browser that came in; more are a mistake or an attack.
const SESSIONS_MAX: usize = 1_000;

/// Secrets of this process; all are gone when it ends.
pub struct Auth {
    /// In the address that is printed; none where a password is asked for.
    token: Option<String>,
    password: Option<String>,
    cookie: String,
    /// The one that was used last stands last.
    sessions: Mutex<VecDeque<String>>,
    random: fn() -> Result<[u8; 32], String>,
}

impl Auth {
    /// With a password, or with a new token.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn new(
        password: Option<String>,
        port: u16,
        random: fn() -> Result<[u8; 32], String>,
    ) -> Result<Self, String> {
        let token = match password {
            Some(_) => None,
            None => Some(hex(&random()?)),
        };
        // Cookies know no ports: without the port in its name, a second console would throw out the first.
        let cookie = format!("plimsoll-{port}");
        Ok(Self { token, password, cookie, sessions: Mutex::default(), random })
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }

    pub fn is_token(&self, given: &str) -> bool {
        self.token.as_deref().is_some_and(|token| same(token, given))
    }

    pub fn is_password(&self, given: &str) -> bool {
        self.password.as_deref().is_some_and(|password| same(password, given))
    }

    /// A new session as the value of `Set-Cookie`.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    pub fn open(&self, is_secure: bool) -> Result<String, String> {
        let session = hex(&(self.random)()?);
        let mut sessions = self.sessions();
        if sessions.len() >= SESSIONS_MAX {
            // Somebody new comes in; the one who has not been seen for the longest time opens the address again.
            sessions.pop_front();
        }
        let secure = if is_secure { "; Secure" } else { "" };
        let cookie = format!("{}={session}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie);
        sessions.push_back(session);
        Ok(cookie)
    }

    /// Whether one of the cookies is a session.
    pub fn is_in(&self, cookies: &str) -> bool {
        let mine = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let mut sessions = self.sessions();
        // All of them are looked at, so that the time tells nothing of which one is near.
        let found = mine.filter(|(name, _)| *name == self.cookie).find_map(|(_, value)| {
            let look = |found, (at, one): (usize, &String)| if same(one, value) { Some(at) } else { found };
            sessions.iter().enumerate().fold(None, look)
        });
        let used = found.and_then(|at| sessions.remove(at));
        let is_in = used.is_some();
        sessions.extend(used);
        is_in
    }

    /// A thread that panicked while holding the lock left nothing half-done in it.
    fn sessions(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Equal; the time depends on the longer of the two, never on where they differ.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut differs = u8::from(a.len() != b.len());
    for at in 0..a.len().max(b.len()) {
        let pair = (a.get(at).copied().unwrap_or(0), b.get(at).copied().unwrap_or(0));
        // Without the box the compiler might leave the loop at the first difference.
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

    #[test]
    fn one_more_browser_comes_in_for_the_one_unused_longest() {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let random = || {
            let mut bytes = [0; 32];
            bytes[..4]
                .copy_from_slice(&NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_be_bytes());
            Ok(bytes)
        };
        let auth = Auth::new(None, 7, random).unwrap();
        let [first, second] = [(); 2].map(|()| auth.open(false).unwrap());
        for _ in 2..SESSIONS_MAX {
            auth.open(false).unwrap();
        }
        assert!(auth.is_in(&first));
        auth.open(false).unwrap();
        assert!(auth.is_in(&first) && !auth.is_in(&second));
    }

    #[test]
    fn only_the_whole_token_and_the_own_cookie_open_the_door() {
        let auth = Auth::new(None, 7, || Ok([7; 32])).unwrap();
        let token = auth.token().unwrap().to_owned();
        assert!(auth.is_token(&token));
        for wrong in ["", &token[1..], &format!("{token}0"), &token.replace('7', "8")] {
            assert!(!auth.is_token(wrong), "{wrong}");
        }
        assert!(!auth.is_password(""));
        assert!(!auth.is_in("plimsoll-7="));
        let cookie = auth.open(false).unwrap();
        let pair = cookie.split(';').next().unwrap();
        assert!(auth.is_in(pair) && auth.is_in(&format!("a=b; {pair}")));
        assert!(!auth.is_in(&pair.replace("plimsoll-7", "plimsoll-8")));
        assert!(!auth.is_in(&pair[..pair.len() - 1]));
    }
}
