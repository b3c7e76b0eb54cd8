/// An error for which a whole body is refused. Each description tells the person who set up the app what to do.
public enum InboxBodyError: Error, Hashable, Sendable {
  /// The body is empty.
  case empty
  /// The body has none of the supported formats.
  case unknownFormat
  /// The body is cut off at `place`.
  case endsEarly(place: String)
  /// The body does not conform to its format.
  case malformed(detail: String, place: String?)
  /// The body has too many bytes, compressed or not.
  case tooLarge(limit: Int)
  /// The body has too many JSON values or fields.
  case tooManyValues(limit: Int)
  /// The body has too many samples.
  case tooManySamples(limit: Int)
  /// The body has implausibly many samples of one type, source and time.
  case tooManyAlike(limit: Int)
  /// The body has more names of sources, types, units and devices than a sender may add.
  case tooManyNames(limit: Int)
  /// The body has a name that is too long.
  ///
  /// - Parameter limit: the maximum length in bytes.
  case nameTooLong(limit: Int)

  /// Whether a smaller body from the same app would be accepted.
  public var isTooMuch: Bool {
    switch self {
    case .tooLarge, .tooManyValues, .tooManySamples: true
    case .empty, .unknownFormat, .endsEarly, .malformed, .tooManyAlike, .tooManyNames, .nameTooLong: false
    }
  }
}

extension InboxBodyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "The body is empty: have the app send its data as JSON."
    case .unknownFormat:
      "The body is none that is taken here: set the app to JSON (Health Auto Export), or to JSON or CSV (HealthAppTransfer)."
    case .endsEarly(let place): "The body ends in the middle, at \(place), so nothing of it was taken: send it again."
    case .malformed(let detail, let place):
      "The body cannot be read\(place.map { " at \($0)" } ?? "") (\(detail)), so nothing of it was taken: send it again."
    case .tooLarge(let limit):
      "The body is larger than \(limit / (1 << 20)) MiB: have the app send a shorter time at once."
    case .tooManyValues(let limit):
      "The body has more than \(limit) values: have the app send a shorter time at once."
    case .tooManySamples(let limit):
      "The body has more than \(limit) samples: have the app send a shorter time at once."
    case .tooManyAlike(let limit):
      "The body has more than \(limit) samples of one type, source and time, so nothing of it was taken."
    case .tooManyNames(let limit):
      "The body has more than \(limit) names of sources, types, units and devices, so nothing of it was taken."
    case .nameTooLong(let limit):
      "The body has a name of a source, type, unit or device of more than \(limit) bytes, so nothing of it was taken."
    }
  }

  /// Creates the error of a body from an error of reading sample files.
  init(_ error: any Error, _ limits: InboxBody.Limits) {
    switch error {
    case let error as InboxBodyError: self = error
    case SampleFileError.endsEarly(_, let position): self = .endsEarly(place: position.place)
    case SampleFileError.malformed(_, let detail, let position):
      self = .malformed(detail: detail, place: position.place)
    case SampleFileError.tooLarge: self = .tooLarge(limit: limits.contentBytes)
    case ImportError.damagedCompression(_, let detail): self = .malformed(detail: detail, place: nil)
    default: self = .malformed(detail: "\(error)", place: nil)
    }
  }
}
