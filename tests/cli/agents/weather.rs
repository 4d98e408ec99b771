//! A bad network between a client and a NATS server: it delays, loses, repeats, and reorders messages, limits the rate
//! of bytes, stalls, and cuts the connection. It reads the protocol of NATS as far as it must to know where a message
//! begins and ends, and imports nothing of plimsoll.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// xorshift64*: the same numbers for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % n
    }
}

/// What the network does to every message.
#[derive(Debug, Clone, Copy, Default)]
pub struct Climate {
    /// Of 100 messages.
    pub lost: u64,
    pub repeated: u64,
    /// Longest delay. Each message has its own, so they overtake each other.
    pub delay_max: Duration,
    pub bytes_per_s: Option<u64>,
}

/// A bad network; its threads end with the process.
pub struct Weather {
    pub port: u16,
    state: Arc<State>,
}

struct State {
    climate: Climate,
    server: u16,
    seed: u64,
    connections: AtomicU64,
    /// Messages that were lost or repeated.
    faults: AtomicU64,
    /// Nothing passes until then.
    stalled: Mutex<Instant>,
    /// Connections are refused until then.
    cut: Mutex<Instant>,
    open: Mutex<Vec<TcpStream>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Weather {
    pub fn start(server: u16, climate: Climate, seed: u64) -> Weather {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let now = Instant::now();
        let state = Arc::new(State {
            climate,
            server,
            seed,
            connections: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            stalled: Mutex::new(now),
            cut: Mutex::new(now),
            open: Mutex::default(),
        });
        let own = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // A server that is gone refuses its clients.
                let _ = own.serve(client);
            }
        });
        Weather { port, state }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Lets nothing pass for a while; it arrives afterwards.
    pub fn stall(&self, length: Duration) {
        *locked(&self.state.stalled) = Instant::now() + length;
    }

    /// Ends the connections, and refuses new ones for a while.
    pub fn cut(&self, length: Duration) {
        *locked(&self.state.cut) = Instant::now() + length;
        for stream in locked(&self.state.open).drain(..) {
            // One that has ended already is no longer connected.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn faults(&self) -> u64 {
        self.state.faults.load(Ordering::Relaxed)
    }
}

impl State {
    fn serve(self: &Arc<Self>, client: TcpStream) -> std::io::Result<()> {
        if Instant::now() < *locked(&self.cut) {
            return Ok(());
        }
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        locked(&self.open).extend([client.try_clone()?, server.try_clone()?]);
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        for (from, to, way) in
            [(client.try_clone()?, server.try_clone()?, 0), (server.try_clone()?, client.try_clone()?, 1)]
        {
            let (sender, due) = channel();
            let (reading, writing) = (Arc::clone(self), Arc::clone(self));
            let random = Random::new(self.seed.wrapping_mul(1_000) + 2 * number + way);
            std::thread::spawn(move || reading.read(from, random, &sender));
            std::thread::spawn(move || writing.write(to, &due));
        }
        Ok(())
    }

    /// Reads messages, and decides what becomes of each.
    fn read(&self, from: TcpStream, mut random: Random, to: &Sender<(Instant, Vec<u8>)>) {
        let mut from = BufReader::new(from);
        while let Ok(Some((frame, is_message))) = frame(&mut from) {
            let mut copies = 1;
            if is_message && random.below(100) < self.climate.lost {
                copies = 0;
            } else if is_message && random.below(100) < self.climate.repeated {
                copies = 2;
            }
            self.faults.fetch_add(u64::from(copies != 1), Ordering::Relaxed);
            for _ in 0..copies {
                let most = self.climate.delay_max.as_micros() as u64;
                let delay = if is_message { random.below(most + 1) } else { 0 };
                let due = Instant::now() + Duration::from_micros(delay);
                if to.send((due, frame.clone())).is_err() {
                    return;
                }
            }
        }
    }

    /// Writes each message when it is due.
    fn write(&self, mut to: TcpStream, due: &Receiver<(Instant, Vec<u8>)>) {
        let mut waiting = BinaryHeap::new();
        let (mut number, mut free) = (0_u64, Instant::now());
        loop {
            let now = Instant::now();
            let begin = free.max(*locked(&self.stalled));
            let next = waiting.peek().map(|Reverse((at, _, _)): &Reverse<(Instant, u64, Vec<u8>)>| *at);
            let at = next.map(|at| at.max(begin));
            if at.is_some_and(|at| at <= now) {
                let Some(Reverse((_, _, bytes))) = waiting.pop() else { return };
                if to.write_all(&bytes).is_err() {
                    return;
                }
                if let Some(rate) = self.climate.bytes_per_s {
                    free = now + Duration::from_micros(bytes.len() as u64 * 1_000_000 / rate);
                }
                continue;
            }
            // Without anything to write, looks whether the other side has ended.
            let wait = at.map_or(Duration::from_secs(1), |at| at - now);
            match due.recv_timeout(wait) {
                Ok((at, bytes)) => {
                    number += 1;
                    waiting.push(Reverse((at, number, bytes)));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = to.shutdown(Shutdown::Both);
                    return;
                }
            }
        }
    }
}

/// Reads one frame of the protocol, and says whether it is a message; `None` at the end.
fn frame(from: &mut impl BufRead) -> std::io::Result<Option<(Vec<u8>, bool)>> {
    let mut frame = Vec::new();
    if from.read_until(b'\n', &mut frame)? == 0 {
        return Ok(None);
    }
    let line = String::from_utf8_lossy(&frame).into_owned();
    let is_message = ["PUB ", "HPUB ", "MSG ", "HMSG "].iter().any(|verb| line.starts_with(verb));
    if is_message {
        // The last word is the length of what follows, and a line ends it.
        let length = line.split_whitespace().last().and_then(|word| word.parse::<usize>().ok()).unwrap_or(0);
        let begin = frame.len();
        frame.resize(begin + length + 2, 0);
        from.read_exact(&mut frame[begin..])?;
    }
    Ok(Some((frame, is_message)))
}
