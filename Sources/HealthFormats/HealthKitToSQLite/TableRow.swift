/// A row of a table whose columns are the union of its rows' columns.
public struct TableRow: Hashable, Sendable {
  public enum Value: Hashable, Sendable {
    case null
    case text(String)
    case number(Double)
  }

  public var table: String
  /// The names of the columns. A name may occur twice or differ from another only in case.
  public var columns: [String]
  /// The values, one for each of ``columns``.
  public var values: [Value]

  /// - Precondition: `columns` and `values` have the same count. This is not checked.
  public init(table: String, columns: [String] = [], values: [Value] = []) {
    self.table = table
    self.columns = columns
    self.values = values
  }

  /// Returns the value of the first column with this exact name, or `nil` if it is absent or null.
  public subscript(column: String) -> Value? {
    guard let index = columns.firstIndex(of: column), values[index] != .null else { return nil }
    return values[index]
  }

  mutating func append(_ column: String, _ value: Value) {
    columns.append(column)
    values.append(value)
  }
}
