import HealthModel

/// A payload that is JSON in coded form, or will be: to print the many numbers of some is left to the thread that takes
/// the batch, which is mostly the one that has time.
enum OpenPayload: Sendable {
  case text(String)
  case content(Payload)

  /// Throws `EncodingError` for what cannot be written as JSON.
  func json() throws -> String {
    switch self {
    case .text(let text): text
    case .content(let payload): try CodedPayload(payload).json ?? ""
    }
  }

  /// Bytes, about.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .content(.workoutRoute(let route)): 112 * (route.points.count + 4)
    case .content(.electrocardiogram(let electrocardiogram)): 8 * electrocardiogram.voltages.count + 512
    case .content: 1024
    }
  }
}
