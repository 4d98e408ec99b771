//! Messages that come back from gzip, and those that do not.

use super::{Broken, Gzip, compress};
use std::io::{Read, Write};

fn compressed(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let put = |to: &mut Vec<u8>| {
        to.extend_from_slice(plain);
        Ok::<(), ()>(())
    };
    assert_eq!(compress(&mut out, put), Ok(()));
    out
}

#[test]
fn a_message_is_compressed_as_the_library_decodes_it() {
    let varied = |len| (0..len).map(|at: u32| (at.wrapping_mul(at) >> 5) as u8).collect();
    // Long repetitions fill several pieces of output at once.
    for plain in [varied(0), varied(5), varied(100_000), vec![7; 5_000], vec![7; 100_000]] {
        let mut read = Vec::new();
        let coded = compressed(&plain);
        flate2::read::GzDecoder::new(&coded[..]).read_to_end(&mut read).expect("it is valid");
        assert!(read == plain, "{} bytes", plain.len());
        assert!(Gzip::default().decode(&coded, 200_000) == Ok(&plain[..]), "{} bytes", plain.len());
    }
}

#[test]
fn a_message_of_the_library_is_decoded() {
    let mut coder = flate2::GzBuilder::new()
        .filename("a")
        .comment("b")
        .extra(vec![1, 2, 3])
        .write(Vec::new(), flate2::Compression::best());
    coder.write_all(b"hello").expect("memory takes it");
    let coded = coder.finish().expect("memory takes it");
    let mut gzip = Gzip::default();
    for _ in 0..2 {
        assert_eq!(gzip.decode(&coded, 5), Ok(&b"hello"[..]));
    }
    assert_eq!(gzip.decode(&coded, 4), Err(Broken::TooLong));
}

#[test]
fn damage_is_found() {
    let coded = compressed(&[7; 1000]);
    let mut gzip = Gzip::default();
    for cut in 0..coded.len() {
        assert_eq!(gzip.decode(&coded[..cut], 10_000), Err(Broken::Invalid), "{cut} bytes");
    }
    for at in [0, 2, coded.len() - 1, coded.len() - 6] {
        let mut damaged = coded.clone();
        damaged[at] ^= 0x40;
        assert_eq!(gzip.decode(&damaged, 10_000), Err(Broken::Invalid), "byte {at}");
    }
}
