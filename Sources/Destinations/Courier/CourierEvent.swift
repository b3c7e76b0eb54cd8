/// A progress event of a ``Courier``.
public enum CourierEvent: Hashable, Sendable {
  /// The number of further samples and tombstones that were handled, whether accepted or refused.
  case delivered(Int)
  /// A failed attempt; the next attempt follows after the pause.
  case failed(reason: String, pause: Duration)
  /// The samples that the destination refused permanently; they are among the dead letters.
  case refused([RefusedSample])
  /// A loss found at the place; the text, part of a sentence, names the loss and the remedy.
  case lost(String)
}

/// The reason why a ``Courier`` stopped early. Nothing is lost: the next run continues there.
public enum CourierError: Error, Hashable, Sendable {
  /// The destination failed too many times in a row.
  case gaveUp(destination: String, attempts: Int, reason: String)
  /// The destination accepts nothing until a person has changed something.
  case unusable(destination: String, reason: String)
}

extension CourierError {
  /// Creates an error for a delivery that is attempted only once.
  package init(_ error: DeliveryError, destination: String) {
    self =
      switch error {
      case .temporary(let reason, _): .gaveUp(destination: destination, attempts: 1, reason: reason)
      case .refused(let reason), .unusable(let reason): .unusable(destination: destination, reason: reason)
      }
  }

  /// The destination's explanation, or the reason why it could not be reached.
  public var reason: String {
    switch self {
    case .gaveUp(_, _, let reason), .unusable(_, let reason): reason
    }
  }

  /// The destination's name in the settings: `steps` for the consumers `folder:steps` and `folder:steps:again:…`.
  private var name: Substring {
    switch self {
    case .gaveUp(let destination, _, _), .unusable(let destination, _):
      destination.split(separator: ":").dropFirst().first ?? destination[...]
    }
  }
}

extension CourierError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .gaveUp(_, let attempts, let reason):
      "\(name) could not be delivered to\(Self.times(attempts)) (\(reason)); nothing is lost, and it goes on later."
    case .unusable(_, let reason):
      "\(name) takes nothing (\(reason)): put that right; nothing is lost, and it goes on then."
    }
  }

  private static func times(_ attempts: Int) -> String { attempts == 1 ? "" : ", \(attempts) times in a row" }
}
