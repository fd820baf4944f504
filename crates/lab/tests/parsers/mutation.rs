//! Texts that are almost well-formed.

/// The words of a seed: SplitMix64 (G. Steele et al., OOPSLA 2014).
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.word() % end.max(1) as u64) as usize
    }

    /// A part of `text`.
    fn range(&mut self, text: &[u8]) -> std::ops::Range<usize> {
        let ends = [self.below(text.len() + 1), self.below(text.len() + 1)];
        ends[0].min(ends[1])..ends[0].max(ends[1])
    }
}

/// One of the texts with some changes; one of a few thousand is repeated until it has `max` bytes.
pub(crate) fn mutated(seeds: &[&str], max: usize, random: &mut Random) -> Vec<u8> {
    let mut text = seeds[random.below(seeds.len())].as_bytes().to_vec();
    for _ in 0..random.below(6) {
        change(&mut text, seeds, random);
    }
    match random.below(4096) {
        0 => enumerate(&text, max),
        1 => text.repeat(max / text.len().max(1)),
        2..64 => enumerate(&text, 4096),
        _ => text,
    }
}

fn change(text: &mut Vec<u8>, seeds: &[&str], random: &mut Random) {
    let range = random.range(text);
    let with: Vec<u8> = match random.below(8) {
        0 => Vec::new(),
        1 => vec![random.word() as u8; 1 + random.below(3)],
        2 => text[range.clone()].repeat(random.below(4)),
        3 => {
            let other = seeds[random.below(seeds.len())].as_bytes();
            other[random.range(other)].to_vec()
        }
        4..6 => {
            // A number in the place of another.
            let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
            let Some(start) = text[range.start..].iter().position(digit) else {
                return;
            };
            let start = range.start + start;
            let length = text[start..].iter().take_while(|byte| digit(byte)).count();
            let number = NUMBERS[random.below(NUMBERS.len())];
            text.splice(start..start + length, number.bytes());
            return;
        }
        _ => TOKENS[random.below(TOKENS.len())].as_bytes().to_vec(),
    };
    text.splice(range, with);
}

/// The text again and again, with other names, ports and times: numbers at the beginning of a line, after a letter or after a colon are
/// counted up.
pub(crate) fn enumerate(text: &[u8], max: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut index = 0;
    while all.len() + text.len() <= max && !text.is_empty() {
        let mut bytes = text.iter().copied().peekable();
        let mut before = b'\n';
        while let Some(byte) = bytes.next() {
            let counts = before.is_ascii_alphabetic() || before == b':' || before == b'\n';
            if byte.is_ascii_digit() && counts {
                let mut number = usize::from(byte - b'0');
                while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                    number = number.wrapping_mul(10).wrapping_add((digit - b'0').into());
                }
                number = number.wrapping_add(index);
                let number = if before == b':' {
                    number % 65_536
                } else {
                    number
                };
                all.extend(number.to_string().bytes());
            } else {
                all.push(byte);
            }
            before = byte;
        }
        index += 1;
    }
    all
}

const NUMBERS: [&str; 16] = [
    "0",
    "-1",
    "1",
    "0.5",
    "1e308",
    "1e-308",
    "inf",
    "nan",
    "255",
    "65536",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "1e15",
    "00000000000000000001",
];

const TOKENS: [&str; 16] = [
    "\n", "\r\n", ",", "\"", "'", "=", "[", "]", "{", "}", ":", "#", "\u{0}", "\u{feff}", "ﬀ", " ",
];
