/// A row of a table that has the columns which its rows have.
public struct TableRow: Hashable, Sendable {
  public enum Value: Hashable, Sendable {
    case null
    case text(String)
    case number(Double)
  }

  public var table: String
  /// May have a name twice, or one that differs from another only in upper and lower case.
  public var columns: [String]
  /// One for each of ``columns``.
  public var values: [Value]

  /// - Precondition: there are as many columns as values. Nothing checks it here.
  public init(table: String, columns: [String] = [], values: [Value] = []) {
    self.table = table
    self.columns = columns
    self.values = values
  }

  /// Of the first column of that name, compared as it is spelled; `nil` where there is none, or no value.
  public subscript(column: String) -> Value? {
    guard let index = columns.firstIndex(of: column), values[index] != .null else { return nil }
    return values[index]
  }

  mutating func append(_ column: String, _ value: Value) {
    columns.append(column)
    values.append(value)
  }
}
