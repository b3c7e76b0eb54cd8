/// Why nothing of a body is taken. Each description says what to do about it, to whoever has set up the app.
public enum InboxBodyError: Error, Hashable, Sendable {
  /// There is nothing in it.
  case empty
  /// It is none of the formats that an inbox takes.
  case unknownFormat
  /// It ends in the middle, where `place` says.
  case endsEarly(place: String)
  /// It is not what its format has there.
  case malformed(detail: String, place: String?)
  /// It has more bytes, compressed or not, than an inbox takes at once.
  case tooLarge(limit: Int)
  /// It has more values than an inbox takes at once.
  case tooManyValues(limit: Int)
  /// It has more samples than an inbox takes at once.
  case tooManySamples(limit: Int)
  /// It has more samples of one type, source and time than anyone's.
  case tooManyAlike(limit: Int)
  /// It has more names of sources, types, units and devices than one sender may bring in all.
  case tooManyNames(limit: Int)
  /// - Parameter limit: in bytes.
  case nameTooLong(limit: Int)

  /// Whether less of it at once would be taken.
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

  /// What reading a file of samples says, said of a body.
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
