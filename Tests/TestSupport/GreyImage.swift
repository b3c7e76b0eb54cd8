import Foundation

/// A greyscale image with 256 levels that tests draw, rotate, degrade and write to files.
public struct GreyImage: Sendable {
  public let width: Int
  public let height: Int
  public var points: [UInt8]

  /// Creates an image of a single grey.
  public init(width: Int, height: Int, grey: UInt8 = 255) {
    (self.width, self.height) = (width, height)
    points = [UInt8](repeating: grey, count: width * height)
  }

  /// Creates an image of a code of square modules, with a white margin of four modules.
  ///
  /// - Parameter isDark: whether a module is, by row and column.
  public init(modules: Int, scale: Int, isDark: (_ row: Int, _ column: Int) -> Bool) {
    self.init(width: (modules + 8) * scale, height: (modules + 8) * scale)
    for row in 0..<modules {
      for column in 0..<modules where isDark(row, column) {
        for y in 0..<scale {
          let start = ((row + 4) * scale + y) * width + (column + 4) * scale
          points.replaceSubrange(start..<start + scale, with: repeatElement(0, count: scale))
        }
      }
    }
  }

  /// Returns the image with `transform` applied to every pixel.
  public func map(_ transform: (UInt8) -> UInt8) -> GreyImage {
    var image = self
    image.points = points.map(transform)
    return image
  }

  /// Returns `ground` with this image drawn over it at the given position.
  public func placed(on ground: GreyImage, x: Int, y: Int) -> GreyImage {
    var image = ground
    for row in 0..<height {
      let start = (y + row) * ground.width + x
      image.points.replaceSubrange(start..<start + width, with: points[row * width..<(row + 1) * width])
    }
    return image
  }

  /// Returns the image rotated about its centre. Uncovered pixels get `grey`.
  public func turned(degrees: Double, grey: UInt8 = 255) -> GreyImage {
    let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
    let columns = Int((abs(Double(width) * cosine) + abs(Double(height) * sine)).rounded(.up))
    let rows = Int((abs(Double(width) * sine) + abs(Double(height) * cosine)).rounded(.up))
    var image = GreyImage(width: columns, height: rows, grey: grey)
    for row in 0..<rows {
      for column in 0..<columns {
        let (x, y) = (Double(column) - Double(columns) / 2, Double(row) - Double(rows) / 2)
        let fromX = Int((x * cosine + y * sine + Double(width) / 2).rounded(.down))
        let fromY = Int((y * cosine - x * sine + Double(height) / 2).rounded(.down))
        guard (0..<width).contains(fromX), (0..<height).contains(fromY) else { continue }
        image.points[row * columns + column] = points[fromY * width + fromX]
      }
    }
    return image
  }

  /// Returns the image with noise like that of a sensor in the dark: each grey changes by at most `amount`.
  public func noisy(_ amount: Int, seed: UInt64) -> GreyImage {
    var generator = SeededGenerator(seed: seed)
    return map { UInt8(clamping: Int($0) + Int.random(in: -amount...amount, using: &generator)) }
  }

  // MARK: Files

  /// The image as an uncompressed PNG.
  public var png: [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity((width + 1) * height)
    for row in 0..<height { rows += [0] + points[row * width..<(row + 1) * width] }
    return Self.png(width: width, height: height, data: Self.zlib(rows))
  }

  /// Returns a PNG with the given size and data, even if they don't match.
  public static func png(width: Int, height: Int, data: [UInt8]) -> [UInt8] {
    let header = bigEndian(width) + bigEndian(height) + [8, 0, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header) + chunk("IDAT", data)
      + chunk("IEND", [])
  }

  /// The image as a portable graymap, which programs convert to other formats.
  public var pgm: [UInt8] { Array("P5\n\(width) \(height)\n255\n".utf8) + points }

  /// Returns zlib data in stored blocks (RFC 1950, RFC 1951 section 3.2.4).
  private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var (coded, at): ([UInt8], Int) = ([0x78, 0x01], 0)
    repeat {
      let count = min(65_535, bytes.count - at)
      let isLast = at + count == bytes.count
      coded += [
        isLast ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8 & 0xFF),
      ]
      coded += bytes[at..<at + count]
      at += count
    } while at < bytes.count
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return coded + bigEndian(Int(high << 16 | low))
  }

  private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + bytes
    var check: UInt32 = .max
    for byte in body { check = table[Int((check ^ UInt32(byte)) & 0xFF)] ^ check >> 8 }
    return bigEndian(bytes.count) + body + bigEndian(Int(~check))
  }

  /// The lookup table for CRC-32 (PNG, annex D).
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    [UInt8(number >> 24 & 0xFF), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
  }
}
