import Foundation
import HealthModel

/// A page that is read in parts, because one of its rows keeps the app from sending the others.
///
/// Rows of one second come in another order with each answer. So where a second is divided, one of its rows may be in two
/// parts and another in none, and a row that cannot be sent may be met in two places. Both are seen by the number of places.
struct DividedPage {
  typealias Row = HealthAppTransferPage.Row

  /// What came of one place in the list.
  private enum Place {
    case row(Row)
    case unreadable
    case unsendable

    var second: Int64? { if case .row(let row) = self { row.second } else { nil } }
    var isUnsendable: Bool { if case .unsendable = self { true } else { false } }
  }

  private let offset: Int
  private let parts: [HealthAppTransferPage]
  private let places: [Place]
  /// Each once.
  private var rows: [Row] = []
  private var known: Set<UUID> = []
  private var looks = 0

  /// - Parameters:
  ///   - parts: the newest first.
  ///   - offset: of the first.
  init(_ parts: [HealthAppTransferPage], offset: Int) {
    (self.parts, self.offset) = (parts, offset)
    places = parts.flatMap { part -> [Place] in
      part.rows.map(Place.row)
        + Array(repeating: part.unsendable.isEmpty ? .unreadable : .unsendable, count: part.unreadable)
    }
    for place in places {
      if case .row(let row) = place, known.insert(row.sample.uuid).inserted { rows.append(row) }
    }
  }

  /// The offsets of rows one of which may not have come; `nil` where there are none.
  var doubtful: Range<Int>? {
    doubt.map { offset + $0.places.lowerBound..<offset + $0.places.upperBound }
  }

  /// Takes what another look at ``doubtful`` has brought.
  ///
  /// - Returns: whether anything of it is new.
  mutating func add(_ parts: [HealthAppTransferPage]) -> Bool {
    guard let seconds = doubt?.seconds else { return false }
    looks += 1
    // Where the list has moved, others come, with which this page does not end.
    let new = parts.flatMap(\.rows).filter { seconds.contains($0.second) && !known.contains($0.sample.uuid) }
    for row in new where known.insert(row.sample.uuid).inserted {
      rows.insert(row, at: rows.firstIndex { $0.second < row.second } ?? rows.count)
    }
    return !new.isEmpty
  }

  /// What is known of the page.
  var whole: HealthAppTransferPage {
    var page = HealthAppTransferPage(parts)
    page.rows = rows
    // It may have been met in two places, or in none.
    let (met, empty) = (page.unsendable.count, stretches.reduce(0) { $0 + $1.missing })
    page.unreadable += max(1, min(met, empty)) - met
    return page
  }

  /// Of several stretches of which rows are missing, each look is at another, as nothing tells where the one is that cannot be
  /// sent.
  private var doubt: Stretch? {
    let incomplete = stretches.filter { $0.missing > 0 }
    guard incomplete.reduce(0, { $0 + $1.missing }) > 1 else { return nil }
    return incomplete[looks % incomplete.count]
  }

  /// Places whose rows may have been met in others of them.
  private struct Stretch {
    var places: Range<Int>
    var seconds: ClosedRange<Int64>
    /// How many places have no row of their own.
    var missing: Int
  }

  private var stretches: [Stretch] {
    extents.compactMap { extent in
      let there = places[extent]
      let seconds = there.compactMap(\.second)
      guard let first = seconds.max(), let last = seconds.min() else { return nil }
      // A second may have no other place than those where the row was met that cannot be sent.
      let newest = places[..<extent.lowerBound].last { $0.second != nil }?.second.map { max(first, $0 - 1) } ?? first
      let oldest = places[extent.upperBound...].first { $0.second != nil }?.second.map { min(last, $0 + 1) } ?? last
      let found = rows.count { (oldest...newest).contains($0.second) }
      let missing = max(0, seconds.count + there.count(where: \.isUnsendable) - found)
      return Stretch(places: extent, seconds: oldest...newest, missing: missing)
    }
  }

  /// The places of each second, with those beside it that have an unsendable row; as one where they overlap.
  private var extents: [Range<Int>] {
    var extents: [Int64: Range<Int>] = [:]
    for (index, place) in places.enumerated() {
      guard let second = place.second else { continue }
      extents[second] = (extents[second]?.lowerBound ?? index)..<index + 1
    }
    var result: [Range<Int>] = []
    for extent in extents.values.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      var (first, end) = (extent.lowerBound, extent.upperBound)
      while first > 0, places[first - 1].isUnsendable { first -= 1 }
      while end < places.count, places[end].isUnsendable { end += 1 }
      if let last = result.last, last.upperBound > first {
        result[result.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        result.append(first..<end)
      }
    }
    return result
  }
}
