/// A count and an order-independent digest of the members of a set: the sum, modulo 2^128, of a hash of each.
///
/// Tells sets apart that differ by accident; it is no defence against somebody who chooses the members.
public struct SetDigest: Hashable, Sendable {
  public var count: Int
  public var sum: UInt128

  public init(count: Int = 0, sum: UInt128 = 0) {
    self.count = count
    self.sum = sum
  }

  public static let empty = SetDigest()

  public var isEmpty: Bool { self == .empty }

  public mutating func insert(_ hash: UInt128) {
    count += 1
    sum &+= hash
  }

  public mutating func remove(_ hash: UInt128) {
    count -= 1
    sum &-= hash
  }

  /// The digest of the union of two sets that have no member in common.
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

  /// `nil` for anything but a count from 0 and 32 lower-case hexadecimal digits.
  public init?(count: Int, hex: String) {
    let isHex = hex.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    guard count >= 0, hex.utf8.count == 32, isHex, let sum = UInt128(hex, radix: 16) else { return nil }
    self.init(count: count, sum: sum)
  }
}
