//! The program that child processes of the tests run.

use mobula_tests as _;

#[mobula::main]
async fn main() {}
