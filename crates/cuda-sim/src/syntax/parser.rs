//! Tokens to the syntax tree.

use super::error::{ParseError, Position};
use super::lexer::{Token, tokens};
use super::tree::{Formal, Function, Initial, Locations, Source, Variable};
use super::types::{Space, Type};

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// The syntax tree of a source.
pub(crate) fn parse(source: &str) -> Result<Source<'_>> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
        locations: Locations::default(),
    };
    parser.source()
}

/// Bytes that a variable in global or constant memory may have.
const MOST_GLOBAL: u64 = 1 << 30;
/// Bytes that a variable in any other space may have: more than any device allows.
const MOST_LOCAL: u64 = 1 << 20;
/// The largest alignment of a variable.
const MOST_ALIGN: u64 = 4096;
/// How deep braces and parentheses may nest.
const MOST_DEPTH: u32 = 200;

pub(super) struct Parser<'s> {
    pub(super) tokens: Vec<(Token<'s>, Position)>,
    pub(super) at: usize,
    depth: u32,
    locations: Locations,
}

impl<'s> Parser<'s> {
    pub(super) fn peek(&self) -> &Token<'s> {
        &self.tokens[self.at].0
    }

    pub(super) fn position(&self) -> Position {
        self.tokens[self.at].1
    }

    pub(super) fn next(&mut self) -> Token<'s> {
        let token = self.tokens[self.at].0.clone();
        // The last token is the end, and it stays the last.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError::at(self.position(), message))
    }

    pub(super) fn describe(&self) -> String {
        match self.peek() {
            Token::Word(word) => format!("`{word}`"),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::End => "the end of the source".to_owned(),
            _ => "a number".to_owned(),
        }
    }

    pub(super) fn take(&mut self, mark: char) -> bool {
        let found = *self.peek() == Token::Mark(mark);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, mark: char) -> Result<()> {
        if self.take(mark) {
            return Ok(());
        }
        self.fail(format!("expected `{mark}`, found {}", self.describe()))
    }

    pub(super) fn take_word(&mut self, wanted: &str) -> bool {
        let found = *self.peek() == Token::Word(wanted);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'s str> {
        match *self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => self.fail(format!("expected {what}, found {}", self.describe())),
        }
    }

    /// A whole module.
    fn source(&mut self) -> Result<Source<'s>> {
        let mut source = Source {
            version: (0, 0),
            target: "",
            variables: Vec::new(),
            functions: Vec::new(),
            locations: Locations::default(),
        };
        loop {
            let at = self.position();
            match *self.peek() {
                Token::End => break,
                Token::Word(".version") => {
                    self.next();
                    source.version = self.version()?;
                }
                Token::Word(".target") => {
                    self.next();
                    source.target = self.word("a target such as sm_75")?;
                    while self.take(',') {
                        self.word("a target option")?;
                    }
                }
                Token::Word(".address_size") => {
                    self.next();
                    if self.constant()? != 64 {
                        return Err(ParseError::at(at, "only .address_size 64 is supported"));
                    }
                }
                Token::Word(".file") => self.file(),
                Token::Word(".loc") => self.skip_line(),
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Word(".section") => self.skip_section()?,
                Token::Mark(';') => {
                    self.next();
                }
                Token::Word(word) if word.starts_with('.') => self.linkable(&mut source)?,
                _ => {
                    return self.fail(format!(
                        "expected a directive, a variable or a function, found {}",
                        self.describe()
                    ));
                }
            }
        }
        if source.version == (0, 0) {
            return self.fail("no .version directive");
        }
        if source.target.is_empty() {
            return self.fail("no .target directive");
        }
        source.locations = std::mem::take(&mut self.locations);
        Ok(source)
    }

    /// `6.3`, which the lexer reads as a decimal fraction.
    fn version(&mut self) -> Result<(u32, u32)> {
        if let Token::Double(bits) = *self.peek() {
            let text = f64::from_bits(bits).to_string();
            let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
            if let (Ok(major), Ok(minor)) = (major.parse(), minor.parse()) {
                self.next();
                return Ok((major, minor));
            }
        }
        self.fail("expected a version such as 7.8")
    }

    /// Counts a brace or parenthesis that opens; `leave` counts one that closes.
    pub(super) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return self.fail(format!("nested more than {MOST_DEPTH} deep"));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// `.file 1 "name", ...`
    pub(super) fn file(&mut self) {
        if let [(Token::Integer(number), _), (Token::Text(name), _), ..] =
            self.tokens[self.at + 1..]
        {
            self.locations.files.insert(number, name.to_owned());
        }
        self.skip_line();
    }

    /// `.loc 1 20 5, ...`: file, line and column.
    pub(super) fn location(&mut self) {
        if let [(Token::Integer(file), _), (Token::Integer(line), _), ..] =
            self.tokens[self.at + 1..]
        {
            let from = self.position().line;
            self.locations.from.push((from, Some((file, line))));
        }
        self.skip_line();
    }

    pub(super) fn skip_line(&mut self) {
        let line = self.position().line;
        while self.position().line == line && *self.peek() != Token::End {
            self.next();
        }
    }

    pub(super) fn skip_statement(&mut self) -> Result<()> {
        while !self.take(';') {
            if *self.peek() == Token::End {
                return self.fail("a directive that does not end");
            }
            self.next();
        }
        Ok(())
    }

    /// `.section .debug_info { ... }`
    fn skip_section(&mut self) -> Result<()> {
        while !self.take('{') {
            if *self.peek() == Token::End {
                return self.fail("a section without contents");
            }
            self.next();
        }
        while !self.take('}') {
            if *self.peek() == Token::End {
                return self.fail("a section that does not end");
            }
            self.next();
        }
        Ok(())
    }

    /// What stands behind `.visible`, `.extern` and the like.
    fn linkable(&mut self, source: &mut Source<'s>) -> Result<()> {
        let mut is_extern = false;
        loop {
            match *self.peek() {
                Token::Word(".extern") => is_extern = true,
                Token::Word(".visible" | ".weak" | ".common" | ".noreturn") => {}
                _ => break,
            }
            self.next();
        }
        match *self.peek() {
            Token::Word(".entry") => {
                self.next();
                let function = self.function(true)?;
                source.functions.push(function);
            }
            Token::Word(".func") => {
                self.next();
                let function = self.function(false)?;
                source.functions.push(function);
            }
            Token::Word(word) => {
                let Some(space) = word.strip_prefix('.').and_then(Space::named) else {
                    return self.fail(format!("unknown directive `{word}`"));
                };
                self.next();
                let first = source.variables.len();
                self.variables(space, &mut |variable| source.variables.push(variable))?;
                for variable in &mut source.variables[first..] {
                    variable.is_extern = is_extern;
                }
            }
            _ => return self.fail(format!("unexpected {}", self.describe())),
        }
        Ok(())
    }

    /// A function or a kernel, up to the end of its body.
    fn function(&mut self, entry: bool) -> Result<Function<'s>> {
        while matches!(*self.peek(), Token::Word(".noreturn")) {
            self.next();
        }
        if self.take_word(".attribute") {
            self.skip_parentheses()?;
        }
        let returns = if *self.peek() == Token::Mark('(') {
            self.formals()?
        } else {
            Vec::new()
        };
        let at = self.position();
        let name = self.word("a function's name")?;
        let formals = if *self.peek() == Token::Mark('(') {
            self.formals()?
        } else {
            Vec::new()
        };
        let mut function = Function {
            name,
            entry,
            returns,
            formals,
            body: None,
            max_threads: None,
            required_threads: None,
            cluster: None,
            at,
        };
        loop {
            match *self.peek() {
                Token::Word(".maxntid") => {
                    self.next();
                    function.max_threads = Some(self.dimensions()?);
                }
                Token::Word(".reqntid") => {
                    self.next();
                    function.required_threads = Some(self.dimensions()?);
                }
                Token::Word(".reqnctapercluster") => {
                    self.next();
                    function.cluster = Some(self.dimensions()?);
                }
                Token::Word(".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank") => {
                    self.next();
                    self.constant()?;
                }
                Token::Word(".noreturn" | ".unified" | ".explicitcluster") => {
                    self.next();
                }
                Token::Word(".attribute") => {
                    self.next();
                    self.skip_parentheses()?;
                }
                Token::Word(".pragma") => self.skip_statement()?,
                Token::Mark(';') => {
                    self.next();
                    return Ok(function);
                }
                Token::Mark('{') => {
                    // Of what follows nothing is known yet.
                    let from = self.position().line;
                    self.locations.from.push((from, None));
                    self.next();
                    function.body = Some(self.statements()?);
                    return Ok(function);
                }
                _ => {
                    return self.fail(format!(
                        "expected the body of `{name}`, found {}",
                        self.describe()
                    ));
                }
            }
        }
    }

    fn skip_parentheses(&mut self) -> Result<()> {
        self.expect('(')?;
        while !self.take(')') {
            if *self.peek() == Token::End {
                return self.fail("expected `)`");
            }
            self.next();
        }
        Ok(())
    }

    /// One to three sizes.
    fn dimensions(&mut self) -> Result<[u32; 3]> {
        let mut sizes = [1; 3];
        for (i, size) in sizes.iter_mut().enumerate() {
            if i > 0 && !self.take(',') {
                break;
            }
            let at = self.position();
            *size = u32::try_from(self.constant()?)
                .map_err(|_| ParseError::at(at, "a dimension out of range"))?;
        }
        Ok(sizes)
    }

    /// The parameters or results of a function.
    fn formals(&mut self) -> Result<Vec<Formal<'s>>> {
        self.expect('(')?;
        let mut formals = Vec::new();
        while !self.take(')') {
            if !formals.is_empty() {
                self.expect(',')?;
            }
            match self.word("`.param` or `.reg`")? {
                ".param" => formals.push(Formal::Memory(self.variable(Space::Param)?)),
                ".reg" => {
                    let ty = self.register_type()?;
                    formals.push(Formal::Register(self.word("a register's name")?, ty));
                }
                other => return self.fail(format!("expected a parameter, found `{other}`")),
            }
        }
        Ok(formals)
    }

    /// The type of a register. Of the narrow floats only the bits matter here.
    pub(super) fn register_type(&mut self) -> Result<Type> {
        let at = self.position();
        let word = self.word("a type")?;
        let name = match word.strip_prefix('.') {
            Some("f16" | "bf16") => "b16",
            Some("f16x2" | "bf16x2") => "b32",
            Some(name) => name,
            None => "",
        };
        Type::named(name).ok_or_else(|| ParseError::at(at, format!("unknown type `{word}`")))
    }

    /// One or more variables of one type, to the semicolon.
    pub(super) fn variables(
        &mut self,
        space: Space,
        sink: &mut dyn FnMut(Variable<'s>),
    ) -> Result<()> {
        let first = self.variable(space)?;
        let (element, align) = (first.element, first.align);
        let lanes = first.bytes;
        let plain = !first.unsized_array && first.initial.is_empty();
        sink(first);
        while self.take(',') {
            if !plain {
                return self.fail("one array or initialised variable per declaration, please");
            }
            let at = self.position();
            let mut next = Variable {
                space,
                name: self.word("a variable's name")?,
                align,
                bytes: lanes,
                unsized_array: false,
                is_extern: false,
                element,
                initial: Vec::new(),
                at,
            };
            self.extent_and_initial(&mut next)?;
            sink(next);
        }
        self.expect(';')
    }

    /// `.align 8 .b8 name[16] = {...}`, from after the space's name on.
    fn variable(&mut self, space: Space) -> Result<Variable<'s>> {
        let mut align = 0;
        let mut lanes = 1;
        let mut ty = None;
        loop {
            let Token::Word(word) = *self.peek() else {
                return self.fail(format!("expected a variable, found {}", self.describe()));
            };
            let Some(modifier) = word.strip_prefix('.') else {
                break;
            };
            let at = self.position();
            self.next();
            match modifier {
                "align" => {
                    align = self.constant()?;
                    if !align.is_power_of_two() || align > MOST_ALIGN {
                        return Err(ParseError::at(
                            at,
                            "an alignment that is no power of two to 4096",
                        ));
                    }
                }
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                // What a pointer parameter points to.
                "ptr" | "global" | "const" | "shared" | "local" | "generic" => {}
                "attribute" => self.skip_parentheses()?,
                // Handles, whose bits are nobody's business.
                "texref" | "samplerref" | "surfref" => ty = Type::named("b64"),
                _ => match Type::named(modifier) {
                    // `.ptr .align 4` gives the alignment of what is pointed
                    // to, not of the parameter: it follows the type.
                    Some(named) => {
                        ty = Some(named);
                        if self.take_word(".ptr") {
                            self.skip_pointer_attributes()?;
                        }
                    }
                    None => return Err(ParseError::at(at, format!("unknown type `{word}`"))),
                },
            }
        }
        let at = self.position();
        let name = self.word("a variable's name")?;
        let Some(ty) = ty else {
            return Err(ParseError::at(at, format!("`{name}` has no type")));
        };
        let bytes = u64::from(ty.bytes()) * lanes;
        let mut variable = Variable {
            space,
            name,
            align: align.max(bytes),
            bytes,
            unsized_array: false,
            is_extern: false,
            element: ty.bytes(),
            initial: Vec::new(),
            at,
        };
        if align != 0 {
            variable.align = align;
        }
        self.extent_and_initial(&mut variable)?;
        Ok(variable)
    }

    fn skip_pointer_attributes(&mut self) -> Result<()> {
        loop {
            match *self.peek() {
                Token::Word(".align") => {
                    self.next();
                    self.constant()?;
                }
                Token::Word(".global" | ".const" | ".shared" | ".local" | ".generic") => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    /// The brackets of an array, and what it begins with.
    fn extent_and_initial(&mut self, variable: &mut Variable<'s>) -> Result<()> {
        let most = match variable.space {
            Space::Global | Space::Constant => MOST_GLOBAL,
            _ => MOST_LOCAL,
        };
        while self.take('[') {
            if self.take(']') {
                variable.unsized_array = true;
                continue;
            }
            let at = self.position();
            let count = self.constant()?;
            variable.bytes = variable
                .bytes
                .checked_mul(count)
                .filter(|&bytes| bytes <= most)
                .ok_or_else(|| ParseError::at(at, "an array too large"))?;
            self.expect(']')?;
        }
        if self.take('=') {
            self.initials(&mut variable.initial)?;
            if variable.unsized_array {
                variable.bytes = u64::from(variable.element) * variable.initial.len() as u64;
                variable.unsized_array = false;
            }
            if variable.initial.len() as u64 * u64::from(variable.element) > variable.bytes {
                return self.fail(format!("too many initial values for `{}`", variable.name));
            }
        }
        if variable.unsized_array {
            variable.bytes = 0;
        }
        Ok(())
    }

    fn initials(&mut self, initials: &mut Vec<Initial<'s>>) -> Result<()> {
        if self.take('{') {
            self.enter()?;
            while !self.take('}') {
                self.initials(initials)?;
                if !self.take(',') {
                    self.expect('}')?;
                    break;
                }
            }
            self.leave();
            return Ok(());
        }
        let initial = match *self.peek() {
            Token::Single(bits) => {
                self.next();
                Initial::Value(u64::from(bits))
            }
            Token::Double(bits) => {
                self.next();
                Initial::Value(bits)
            }
            Token::Word("generic") => {
                self.next();
                self.expect('(')?;
                let symbol = self.word("a symbol")?;
                self.expect(')')?;
                self.symbol_initial(symbol, u64::MAX)?
            }
            Token::Word(symbol) if symbol != "WARP_SZ" => {
                self.next();
                self.symbol_initial(symbol, u64::MAX)?
            }
            _ => {
                let value = self.constant()?;
                // `0xFF00(symbol)`: some of the bytes of an address.
                if self.take('(') {
                    let generic = self.take_word("generic");
                    if generic {
                        self.expect('(')?;
                    }
                    let symbol = self.word("a symbol")?;
                    if generic {
                        self.expect(')')?;
                    }
                    let initial = self.symbol_initial(symbol, value)?;
                    self.expect(')')?;
                    initial
                } else {
                    Initial::Value(value)
                }
            }
        };
        initials.push(initial);
        Ok(())
    }

    fn symbol_initial(&mut self, symbol: &'s str, mask: u64) -> Result<Initial<'s>> {
        let addend = match *self.peek() {
            Token::Mark('+' | '-') => self.signed_offset()? as u64,
            _ => 0,
        };
        Ok(Initial::Address {
            symbol,
            addend,
            mask,
        })
    }
}
