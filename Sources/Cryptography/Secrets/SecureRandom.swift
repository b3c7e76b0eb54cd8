/// A source of random bytes from the kernel's generator (`getrandom`), which does not fail and does not repeat after
/// a fork.
package enum SecureRandom {
  /// Returns this many random bytes.
  package static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
  }
}
