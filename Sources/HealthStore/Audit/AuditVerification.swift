/// What a walk along the audit log's chain found.
public enum AuditVerification: Hashable, Sendable {
  /// - Parameter pruned: how many events were removed because of their age.
  case intact(rows: Int, pruned: Int = 0)
  /// Never empty; in the order of the log.
  case broken([AuditDamage])
}

/// One thing in the audit log that is not as it was written. Events go by their numbers.
public enum AuditDamage: Hashable, Sendable {
  /// The event's text, time or hash is another.
  case changed(Int64)
  /// There are no events with these numbers, though there are some before and after.
  case missing(ClosedRange<Int64>)
  /// The event is not what was written although its own hash fits it: so were, perhaps, events before it.
  case rewritten(upTo: Int64)
  /// A row that hpeer did not write stands under this number.
  case inserted(Int64)
  /// The event stands under another number.
  case moved(event: Int64, to: Int64)
  /// The log begins after this event, and no event in it says that those before it were removed because of their age.
  case pruningNotRecorded(upTo: Int64)
  /// What is counted of a peer's reads, and not among the events yet, is not what was written.
  case countChanged(peer: String, event: String)
  /// Counts of reads were removed, put in or computed anew.
  case countsRewritten
  /// The number of further rows that do not fit, beyond those that are listed.
  case more(Int)

  /// The first event number that it concerns; `Int64.max` where it concerns none.
  public var event: Int64 {
    switch self {
    case .changed(let id), .rewritten(let id), .inserted(let id), .pruningNotRecorded(let id): id
    case .missing(let ids): ids.lowerBound
    case .moved(let event, let place): min(event, place)
    case .countChanged, .countsRewritten, .more: .max
    }
  }
}

extension AuditDamage: CustomStringConvertible {
  public var description: String {
    switch self {
    case .changed(let id): "event \(id) was changed"
    case .missing(let ids) where ids.count == 1: "event \(ids.lowerBound) is missing"
    case .missing(let ids): "events \(ids.lowerBound) to \(ids.upperBound) are missing"
    case .rewritten(let id):
      "event \(id) was changed and its hash computed anew, and perhaps those of events before it"
    case .inserted(let id): "event \(id) was not written by hpeer"
    case .moved(let event, let place): "event \(event) stands in the place of event \(place)"
    case .pruningNotRecorded(let id): "the events up to \(id) were removed, but not by hpeer"
    case .countChanged(let peer, let event): "the count of \(event) by the machine \(peer.prefix(8)) was changed"
    case .countsRewritten: "counts of reads were removed, put in or computed anew"
    case .more(let count): "\(count) more events do not fit"
    }
  }
}
