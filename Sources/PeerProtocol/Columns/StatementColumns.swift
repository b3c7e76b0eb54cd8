import Foundation
import HealthModel

/// The columns `stated` and `statements` of samples or tombstones, in which few rows have an entry.
struct StatementColumns {
  private(set) var stated: [UInt32] = []
  private(set) var bytes: [UInt8] = []

  /// - Parameter row: the row's index, greater than in the previous call.
  mutating func add(_ statement: KeyStatement?, at row: Int) {
    guard let statement else { return }
    stated.append(UInt32(row))
    bytes.append(contentsOf: statement.bytes)
  }

  /// Returns the statements with their rows in ascending order, or `nil` if the columns violate `changes.proto`.
  ///
  /// - Parameter count: the number of rows.
  static func read(_ stated: [UInt32], _ bytes: Data, count: Int) -> [(row: Int, statement: KeyStatement)]? {
    guard bytes.count == stated.count * KeyStatement.byteCount else { return nil }
    var result: [(row: Int, statement: KeyStatement)] = []
    for (index, row) in stated.enumerated() {
      let start = bytes.startIndex + index * KeyStatement.byteCount
      guard row < count, result.last.map({ $0.row < row }) ?? true,
        let statement = KeyStatement(bytes: bytes[start..<start + KeyStatement.byteCount])
      else { return nil }
      result.append((Int(row), statement))
    }
    return result
  }
}
