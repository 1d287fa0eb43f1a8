use std::fmt;
impl fmt::Display for crate::Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("graph")
    }
}
impl fmt::Display for crate::Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.check)
    }
}
