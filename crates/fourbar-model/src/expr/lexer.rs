//! Splits the text of an expression into tokens with their positions.

use super::Comparison;
use super::error::{ExprError, ExprErrorKind};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A word of letters, digits, underscores and dots; its text is the token's range.
    Word,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Comma,
    Open,
    Close,
    Compare(Comparison),
    End,
}

/// Longest name tried with hyphens in it.
const MAX_NAME: usize = 80;

pub(super) struct Lexer<'a> {
    pub text: &'a str,
    at: usize,
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '°'
}

fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub fn error<T>(kind: ExprErrorKind, range: Range<usize>) -> Result<T, ExprError> {
        Err(ExprError { kind, range })
    }

    /// Continues at a byte of the text.
    pub fn jump(&mut self, at: usize) {
        self.at = at;
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The next token and its bytes.
    pub fn next(&mut self) -> Result<(Token, Range<usize>), ExprError> {
        let space = self.rest().len() - self.rest().trim_start().len();
        self.at += space;
        let start = self.at;
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return Ok((Token::End, start..start)) };
        if start >= super::MAX_LENGTH {
            return Self::error(ExprErrorKind::TooLong, start..self.text.len());
        }
        let dotted = c == '.' && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        let (token, length) = if c.is_ascii_digit() || dotted {
            return self.number();
        } else if is_word_start(c) {
            (Token::Word, rest.find(|c| !(is_word_part(c) || c == '°')).unwrap_or(rest.len()))
        } else {
            match (c, rest.chars().nth(1)) {
                ('*', Some('*')) => (Token::Caret, 2),
                ('<', Some('=')) => (Token::Compare(Comparison::LessEqual), 2),
                ('>', Some('=')) => (Token::Compare(Comparison::GreaterEqual), 2),
                ('=', Some('=')) => (Token::Compare(Comparison::Equal), 2),
                ('!', Some('=')) => (Token::Compare(Comparison::NotEqual), 2),
                ('<', _) => (Token::Compare(Comparison::Less), 1),
                ('>', _) => (Token::Compare(Comparison::Greater), 1),
                ('+', _) => (Token::Plus, 1),
                ('-', _) => (Token::Minus, 1),
                ('*' | '·', _) => (Token::Star, c.len_utf8()),
                ('/', _) => (Token::Slash, 1),
                ('^', _) => (Token::Caret, 1),
                (',', _) => (Token::Comma, 1),
                ('(', _) => (Token::Open, 1),
                (')', _) => (Token::Close, 1),
                _ if is_not_finite(rest.trim_end()) => return Self::error(ExprErrorKind::NotFinite, start..self.text.trim_end().len()),
                _ => {
                    let kind = ExprErrorKind::Syntax { expected: "a number, a name or an operator", found: c.to_string() };
                    return Self::error(kind, start..start + c.len_utf8());
                }
            }
        };
        self.at = start + length;
        Ok((token, start..self.at))
    }

    /// Digits, a point, digits, an exponent.
    fn number(&mut self) -> Result<(Token, Range<usize>), ExprError> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut i: usize| {
            while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
            i
        };
        let mut end = digits(start);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        self.at = end;
        match self.text[start..end].parse::<f64>() {
            Ok(x) if x.is_finite() => Ok((Token::Number(x), start..end)),
            _ => Self::error(ExprErrorKind::NotFinite, start..end),
        }
    }

    /// Ends of the name that starts at `start`, longest first: names may contain hyphens, which also mean minus.
    pub fn name_ends(&self, word: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let mut ends = vec![word.end];
        let bytes = self.text.as_bytes();
        let mut end = word.end;
        while bytes.get(end) == Some(&b'-') && end - word.start < MAX_NAME {
            let part = self.text[end + 1..].find(|c: char| !is_word_part(c)).unwrap_or(self.text.len() - end - 1);
            if part == 0 {
                break;
            }
            end += 1 + part;
            ends.push(end);
        }
        ends.into_iter().rev()
    }
}

/// Spellings of infinity and not-a-number, with a sign or the leading dot of YAML.
pub(super) fn is_not_finite(word: &str) -> bool {
    let word = word.trim_start_matches(['.', '+', '-']).to_ascii_lowercase();
    matches!(word.as_str(), "inf" | "infinity" | "nan")
}
