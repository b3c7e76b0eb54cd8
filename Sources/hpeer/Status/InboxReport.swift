import Foundation
import HealthModel
import HealthOperations

/// How the inbox goes, for `--json` and for people.
struct InboxReport: Encodable {
  struct Sender: Encodable {
    enum State: String, Encodable {
      /// The last that it sent was taken.
      case fine
      case failing
      /// Nothing of it was taken yet.
      case never
    }

    var name: String
    var state: State
    var lastSeen: Timestamp?
    var lastReceived: Timestamp?
    /// Within a week.
    var refused: Refusals?
  }

  struct Refusals: Encodable {
    var count: Int
    var last: Timestamp
    var reason: String
  }

  struct Certificate: Encodable {
    var ends: Timestamp?
    var isOver: Bool?
    /// Why it cannot be used.
    var problem: String?
  }

  var senders: [Sender]
  var certificate: Certificate?

  init(_ standing: InboxStanding, now: Timestamp = .now) {
    senders = standing.senders.map { sender in
      Sender(
        name: sender.name,
        state: sender.isFailing(at: now) ? .failing : sender.lastReceived == nil ? .never : .fine,
        lastSeen: sender.lastSeen.map { Timestamp($0) }, lastReceived: sender.lastReceived,
        refused: sender.refused.map { Refusals(count: $0.count, last: $0.last, reason: $0.reason) })
    }
    switch standing.certificate {
    case .good(let end): certificate = Certificate(ends: Timestamp(end), isOver: Timestamp(end) <= now)
    case .unusable(let reason): certificate = Certificate(problem: reason)
    case nil: certificate = nil
    }
  }

  /// Whether phones cannot trust it, or what an app sends is refused.
  var isFailing: Bool {
    certificate?.problem != nil || certificate?.isOver == true || senders.contains { $0.state == .failing }
  }
}
