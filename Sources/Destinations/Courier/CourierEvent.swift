/// What happens to a ``Courier`` on its way.
public enum CourierEvent: Hashable, Sendable {
  /// So many more samples and tombstones have been dealt with.
  case delivered(Int)
  /// An attempt failed; the next is made after the pause.
  case failed(reason: String, pause: Duration)
  /// The destination refused these for good; they are among the dead letters.
  case refused([RefusedSample])
  /// The place had lost something; what, and what becomes of it, as the part of a sentence.
  case lost(String)
}

/// Why a ``Courier`` ended before everything was delivered. Nothing is lost: the next run goes on from there.
public enum CourierError: Error, Hashable, Sendable {
  /// Too many attempts in a row failed.
  case gaveUp(destination: String, attempts: Int, reason: String)
  /// The destination takes nothing before a person has changed something.
  case unusable(destination: String, reason: String)
}

extension CourierError {
  /// Why a destination could not be delivered to that is asked only once.
  package init(_ error: DeliveryError, destination: String) {
    self =
      switch error {
      case .temporary(let reason, _): .gaveUp(destination: destination, attempts: 1, reason: reason)
      case .refused(let reason), .unusable(let reason): .unusable(destination: destination, reason: reason)
      }
  }

  /// What the destination said, or why it could not be asked.
  public var reason: String {
    switch self {
    case .gaveUp(_, _, let reason), .unusable(_, let reason): reason
    }
  }

  /// As the settings have it: `steps` of the consumers `folder:steps` and `folder:steps:again:…`.
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
