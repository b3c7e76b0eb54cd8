/// A greyscale picture with 8 bits per pixel, row by row from the top.
struct GreyPicture: Hashable {
  let width: Int
  let height: Int
  var points: [UInt8]

  /// The variants in which a code may be found if the original fails: because it is dark, pale, large, small, noisy,
  /// unevenly lit, or without a white margin. The most promising come first.
  static let versions: [@Sendable (GreyPicture) -> GreyPicture?] = [
    { $0 },
    { $0.stretched() },
    { $0.halved()?.stretched() },
    { $0.thresholded() },
    { $0.halved()?.thresholded() },
    { $0.halved()?.halved()?.stretched() },
    { $0.framed().stretched() },
    { $0.doubled()?.stretched() },
    { $0.halved()?.halved()?.halved()?.stretched() },
    { $0.turned()?.stretched() },
  ]

  /// Returns the picture with the contrast stretched: the darkest and the lightest hundredth become black and white.
  func stretched() -> GreyPicture {
    var counts = [Int](repeating: 0, count: 256)
    for point in points { counts[Int(point)] += 1 }
    let edge = points.count / 100
    var (low, high, below, above) = (0, 255, 0, 0)
    while low < 255, below + counts[low] <= edge { (below, low) = (below + counts[low], low + 1) }
    while high > 0, above + counts[high] <= edge { (above, high) = (above + counts[high], high - 1) }
    guard high > low else { return self }
    let table = (0..<256).map { UInt8(clamping: ($0 - low) * 255 / (high - low)) }
    return GreyPicture(width: width, height: height, points: points.map { table[Int($0)] })
  }

  /// Returns the picture at half the width and height; `nil` if it would be too small.
  func halved() -> GreyPicture? {
    let (columns, rows) = (width / 2, height / 2)
    guard min(columns, rows) >= 60 else { return nil }
    var half = [UInt8](repeating: 0, count: columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        let at = 2 * row * width + 2 * column
        let sum = Int(points[at]) + Int(points[at + 1]) + Int(points[at + width]) + Int(points[at + width + 1])
        half[row * columns + column] = UInt8(sum / 4)
      }
    }
    return GreyPicture(width: columns, height: rows, points: half)
  }

  /// Returns the picture at twice the width and height; `nil` for a large one.
  func doubled() -> GreyPicture? {
    guard points.count <= 2_000_000 else { return nil }
    var twice: [UInt8] = []
    twice.reserveCapacity(4 * points.count)
    for row in 0..<2 * height {
      for column in 0..<2 * width { twice.append(points[row / 2 * width + column / 2]) }
    }
    return GreyPicture(width: 2 * width, height: 2 * height, points: twice)
  }

  /// Returns the picture with a white margin, for pictures that were cropped to the code.
  func framed() -> GreyPicture {
    let margin = max(16, min(width, height) / 8)
    let (columns, rows) = (width + 2 * margin, height + 2 * margin)
    var framed = [UInt8](repeating: 255, count: columns * rows)
    for row in 0..<height {
      let at = (row + margin) * columns + margin
      framed.replaceSubrange(at..<at + width, with: points[row * width..<(row + 1) * width])
    }
    return GreyPicture(width: columns, height: rows, points: framed)
  }

  /// Returns a black and white picture: black where a pixel is darker than its neighbourhood.
  func thresholded() -> GreyPicture {
    let reach = max(8, min(width, height) / 24)
    // The sums of all pixels above and to the left.
    var sums = [UInt32](repeating: 0, count: (width + 1) * (height + 1))
    for row in 0..<height {
      var line: UInt32 = 0
      for column in 0..<width {
        // Overflow wraps around, and the differences are still correct.
        line &+= UInt32(points[row * width + column])
        sums[(row + 1) * (width + 1) + column + 1] = sums[row * (width + 1) + column + 1] &+ line
      }
    }
    var black = [UInt8](repeating: 255, count: points.count)
    for row in 0..<height {
      let (top, bottom) = (max(0, row - reach), min(height, row + reach + 1))
      for column in 0..<width {
        let (left, right) = (max(0, column - reach), min(width, column + reach + 1))
        let sum =
          sums[bottom * (width + 1) + right] &- sums[top * (width + 1) + right] &- sums[bottom * (width + 1) + left]
          &+ sums[top * (width + 1) + left]
        let count = (bottom - top) * (right - left)
        if Int(points[row * width + column]) * count * 20 < Int(sum) * 19 { black[row * width + column] = 0 }
      }
    }
    return GreyPicture(width: width, height: height, points: black)
  }

  /// Returns the picture rotated by 45 degrees, in a square that contains it; `nil` for a large one.
  func turned() -> GreyPicture? {
    guard points.count <= 4_000_000 else { return nil }
    let side = Int((Double(width * width + height * height)).squareRoot().rounded(.up))
    let (cosine, middle) = (0.5.squareRoot(), Double(side) / 2)
    var turned = [UInt8](repeating: 255, count: side * side)
    for row in 0..<side {
      for column in 0..<side {
        let (x, y) = (Double(column) + 0.5 - middle, Double(row) + 0.5 - middle)
        let fromX = (cosine * (x - y) + Double(width) / 2).rounded(.down)
        let fromY = (cosine * (x + y) + Double(height) / 2).rounded(.down)
        guard fromX >= 0, fromY >= 0, fromX < Double(width), fromY < Double(height) else { continue }
        turned[row * side + column] = points[Int(fromY) * width + Int(fromX)]
      }
    }
    return GreyPicture(width: side, height: side, points: turned)
  }
}
