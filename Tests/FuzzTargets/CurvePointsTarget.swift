import Cryptography

@testable import PeerTrust

extension FuzzTarget {
  /// Fuzzes the check of SPAKE2 shares. The first byte determines what follows: the bytes of a share; or a scalar,
  /// whose point is used, and corruptions of its bytes.
  @Sendable static func curvePoints(_ input: [UInt8]) {
    guard let mode = input.first else { return }
    var bytes = Array(input.dropFirst())
    if mode & 1 == 1, let point = point(scalar: bytes.prefix(32)) {
      let changes = bytes.dropFirst(32)
      bytes = point
      for (index, change) in zip(changes.indices, changes) where index.isMultiple(of: 2) {
        bytes[Int(change) % bytes.count] ^= index + 1 < changes.endIndex ? changes[index + 1] : 1
      }
    }
    let isPoint = PlainP256.isPoint(bytes)
    let accepted: Bool
    do {
      let curve = try P256.shared()
      let share = try? curve.decodeShare(bytes)
      accepted = share != nil
      if let share { require(try curve.encode(share) == bytes, "a point has one spelling") }
      if mode & 2 == 2 {
        let element = try? SPAKE2(role: .b, w: one, secret: one).sharedElement(peerShare: bytes).count
        // A share of w·M makes the shared element the identity, which must be refused as well.
        require(accepted || element == nil, "no key with what is no point")
      }
    } catch {
      fatalError("broken promise: the curve works: \(error)")
    }
    require(accepted == isPoint, "SPAKE2 says \(accepted), the equation says \(isPoint): \(bytes)")
  }

  private static let one: Scalar = {
    do {
      return try Scalar(bytes: Array(repeating: 0, count: 31) + [1])
    } catch {
      fatalError("1 is a scalar: \(error)")
    }
  }()

  private static func point(scalar: ArraySlice<UInt8>) -> [UInt8]? {
    guard let scalar = try? Scalar(bytes: Array(scalar)), let curve = try? P256.shared() else { return nil }
    return try? curve.encode(curve.multiplyBase(by: scalar))
  }
}

/// The equation of P-256 (FIPS 186-4, D.1.2.3) in schoolbook arithmetic: slow, not constant-time, and independent of
/// the code under test.
enum PlainP256 {
  /// A 256-bit number in 32-bit words, least significant word first.
  typealias Number = [UInt32]

  private static let prime = number("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff")
  private static let b = number("5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b")

  /// Returns whether bytes are an uncompressed point: 04, then two coordinates below the prime that satisfy y² = x³ -
  /// 3x + b.
  static func isPoint(_ bytes: [UInt8]) -> Bool {
    guard bytes.count == 65, bytes[0] == 4 else { return false }
    let (x, y) = (number(bytes[1..<33]), number(bytes[33...]))
    guard isLess(x, prime), isLess(y, prime) else { return false }
    let cube = multiply(multiply(x, x), x)
    let three = add(add(x, x), x)
    // x³ + b = y² + 3x, so that nothing is subtracted.
    return add(cube, b) == add(multiply(y, y), three)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Number {
    Array(bytes).reversed().enumerated().reduce(into: Number(repeating: 0, count: 8)) { number, byte in
      number[byte.offset / 4] |= UInt32(byte.element) << UInt32(byte.offset % 4 * 8)
    }
  }

  private static func number(_ digits: String) -> Number {
    let digits = Array(digits)
    return number(
      stride(from: 0, to: 64, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }[...])
  }

  private static func isLess(_ first: Number, _ second: Number) -> Bool {
    for index in first.indices.reversed() where first[index] != second[index] { return first[index] < second[index] }
    return false
  }

  /// Returns a number of any length modulo the prime, computed bit by bit.
  private static func reduce(_ wide: Number) -> Number {
    var rest = Number(repeating: 0, count: 9)
    let wider = prime + [0]
    for index in wide.indices.reversed() {
      for bit in (0..<32).reversed() {
        var carry = wide[index] >> UInt32(bit) & 1
        for place in rest.indices { (rest[place], carry) = (rest[place] << 1 | carry, rest[place] >> 31) }
        if !isLess(rest, wider) {
          var borrow: Int64 = 0
          for place in rest.indices {
            let difference = Int64(rest[place]) - Int64(wider[place]) + borrow
            rest[place] = UInt32(truncatingIfNeeded: difference)
            borrow = difference < 0 ? -1 : 0
          }
        }
      }
    }
    return Array(rest.prefix(8))
  }

  private static func add(_ first: Number, _ second: Number) -> Number {
    var (sum, carry) = (Number(), UInt64(0))
    for (a, b) in zip(first, second) {
      carry += UInt64(a) + UInt64(b)
      sum.append(UInt32(truncatingIfNeeded: carry))
      carry >>= 32
    }
    return reduce(sum + [UInt32(truncatingIfNeeded: carry)])
  }

  private static func multiply(_ first: Number, _ second: Number) -> Number {
    var product = Number(repeating: 0, count: 16)
    for (row, a) in first.enumerated() {
      var carry: UInt64 = 0
      for (column, b) in second.enumerated() {
        carry += UInt64(a) * UInt64(b) + UInt64(product[row + column])
        product[row + column] = UInt32(truncatingIfNeeded: carry)
        carry >>= 32
      }
      product[row + 8] = UInt32(truncatingIfNeeded: carry)
    }
    return reduce(product)
  }
}
