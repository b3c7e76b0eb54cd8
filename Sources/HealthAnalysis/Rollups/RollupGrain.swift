/// The stretches of time of which something is kept.
///
/// All zones of today are some whole number of quarter-hours away from UTC, so that their days and hours consist of
/// quarter-hours; where they consist of hours, there are fewer to add up. What does not consist of either (a question that
/// begins at 10:07, a zone before there were zones) is computed from the samples.
enum RollupGrain: Int, Hashable, Sendable, CaseIterable {
  case hour = 24
  case quarter = 96

  /// A block's: a day in UTC, in microseconds.
  static let day: Int64 = 86_400_000_000

  /// How many cells a block has.
  var count: Int { rawValue }
  /// In microseconds.
  var length: Int64 { Self.day / Int64(rawValue) }

  /// The largest whose cells make up all stretches between some edges; `nil` where there is none.
  init?(edges: some Sequence<Int64>) {
    var grain = RollupGrain.hour
    for edge in edges where edge % RollupGrain.hour.length != 0 {
      guard edge % RollupGrain.quarter.length == 0 else { return nil }
      grain = .quarter
    }
    self = grain
  }

  /// The years 1 to 9999, and a day before and after. What is earlier or later still counts for the first and the last, so
  /// that who recorded it is known; it is in no bucket.
  static let days: ClosedRange<Int64> = -719_163...2_932_897

  /// The day in UTC of an instant, from 1970, one of ``days``.
  static func day(of microseconds: Int64) -> Int64 {
    let quotient = microseconds / day
    let day = microseconds % day < 0 ? quotient - 1 : quotient
    return min(max(day, days.lowerBound), days.upperBound)
  }

  /// The time of which ``day(of:)`` says these days, in microseconds since 1970.
  static func microseconds(of days: ClosedRange<Int64>) -> Range<Int64> {
    let start = days.lowerBound <= Self.days.lowerBound ? .min : days.lowerBound * day
    let end = days.upperBound >= Self.days.upperBound ? .max : (days.upperBound + 1) * day
    return start..<end
  }
}

/// Cells of one block, in order of time.
protocol RollupCell {
  /// Whether there is nothing in it.
  var isEmpty: Bool { get }
  /// Takes in the cell that follows in time.
  mutating func append(_ next: Self)
  /// Leaves out what comes from before it, as where it is not the first of a longer stretch.
  mutating func forgetBefore()
  /// - Parameter start: of the cell, in microseconds since 1970.
  func write(to writer: inout CellWriter, start: Int64)
  init(from reader: inout CellReader, start: Int64) throws(RollupDamage)
}

/// A block of cells as bytes: a bit for each cell that there is, and these.
enum RollupBlock {
  /// `nil` where all are empty.
  static func bytes<Cell: RollupCell>(of cells: ArraySlice<Cell>, _ grain: RollupGrain, start: Int64) -> [UInt8]? {
    var present = [UInt8](repeating: 0, count: grain.count / 8)
    var writer = CellWriter()
    var isEmpty = true
    for (index, cell) in cells.enumerated() where !cell.isEmpty {
      present[index / 8] |= 1 << UInt8(index % 8)
      cell.write(to: &writer, start: start + Int64(index) * grain.length)
      isEmpty = false
    }
    return isEmpty ? nil : present + writer.bytes
  }

  static func forEach<Cell: RollupCell>(
    _ type: Cell.Type, in bytes: UnsafeRawBufferPointer, _ grain: RollupGrain, start: Int64,
    _ body: (_ start: Int64, Cell) throws -> Void
  ) throws {
    let size = grain.count / 8
    guard bytes.count >= size else { throw RollupDamage() }
    var reader = CellReader(UnsafeRawBufferPointer(rebasing: bytes[size...]))
    for index in 0..<grain.count where bytes[index / 8] & 1 << UInt8(index % 8) != 0 {
      let time = start + Int64(index) * grain.length
      try body(time, try Cell(from: &reader, start: time))
    }
    guard reader.isAtEnd else { throw RollupDamage() }
  }

  /// The hours of a block that is given in quarter-hours.
  static func hours<Cell: RollupCell>(of quarters: ArraySlice<Cell>) -> [Cell] {
    stride(from: quarters.startIndex, to: quarters.endIndex, by: 4).map { first in
      quarters[first + 1..<first + 4].reduce(into: quarters[first]) { $0.append($1) }
    }
  }
}
