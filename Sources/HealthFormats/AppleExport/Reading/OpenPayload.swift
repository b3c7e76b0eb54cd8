import HealthModel

/// A payload that is JSON in coded form, or will be: to print the many numbers of some is left to the thread that takes
/// the batch, which is mostly the one that has time.
enum OpenPayload: Sendable {
  case text(String)
  case columns(any ColumnPayload)

  /// Throws `EncodingError` for what cannot be written as JSON.
  func json() throws -> String {
    switch self {
    case .text(let text): text
    case .columns(let payload): try payload.coded().json ?? ""
    }
  }

  /// Bytes, about.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .columns(let payload): payload.size
    }
  }
}
