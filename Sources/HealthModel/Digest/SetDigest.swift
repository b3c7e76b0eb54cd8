/// A count and an order-independent digest of the members of a set: the sum of their hashes, modulo 2^128.
///
/// The digest detects accidental differences between sets. It offers no protection against an attacker who chooses
/// the members.
///
/// ```swift
/// func digest(of samples: [Sample], type: SampleType) -> SetDigest {
///   var hasher = IdentityHasher(type)
///   return samples.reduce(into: .empty) { $0.insert(hasher.sample($1)) }
/// }
/// ```
public struct SetDigest: Hashable, Sendable {
  /// The number of members, which is never negative in the digest of a set.
  public var count: Int
  /// The sum of the members' hashes, modulo 2^128.
  public var sum: UInt128

  /// Creates a digest, which without arguments is that of the empty set.
  public init(count: Int = 0, sum: UInt128 = 0) {
    self.count = count
    self.sum = sum
  }

  /// The digest of the empty set.
  public static let empty = SetDigest()

  /// Whether both count and sum are 0.
  public var isEmpty: Bool { self == .empty }

  /// Adds a member by its hash. The member must not be in the set already; this cannot be checked.
  public mutating func insert(_ hash: UInt128) {
    count += 1
    sum &+= hash
  }

  /// Removes a member by its hash. The member must have been inserted; this cannot be checked.
  public mutating func remove(_ hash: UInt128) {
    count -= 1
    sum &-= hash
  }

  /// Adds the digest of a set that has no member in common.
  public static func += (lhs: inout Self, rhs: Self) {
    lhs.count += rhs.count
    lhs.sum &+= rhs.sum
  }
}

extension SetDigest {
  /// ``sum`` as 32 lower-case hexadecimal digits.
  public var hex: String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 32 - digits.utf8.count) + digits
  }

  /// Creates a digest, or returns `nil` unless the count is at least 0 and `hex` has 32 lower-case hexadecimal
  /// digits.
  public init?(count: Int, hex: String) {
    let isHex = hex.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard count >= 0, hex.utf8.count == 32, isHex, let sum = UInt128(hex, radix: 16) else { return nil }
    self.init(count: count, sum: sum)
  }
}
