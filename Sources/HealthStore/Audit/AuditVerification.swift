/// The result of a verification of the audit log.
public enum AuditVerification: Hashable, Sendable {
  /// The log is as it was written.
  ///
  /// - Parameter pruned: the number of events that were pruned because of their age.
  case intact(rows: Int, pruned: Int = 0)
  /// The log is damaged. The list is in the order of the log, and never empty.
  case broken([AuditDamage])
}

/// A fault in the audit log. Events are identified by their numbers.
public enum AuditDamage: Hashable, Sendable {
  /// An event whose text, time or hash has changed.
  case changed(Int64)
  /// The numbers of events that are missing between others.
  case missing(ClosedRange<Int64>)
  /// An event that was changed and whose hash was recomputed. Events before it may have been changed in the same way.
  case rewritten(upTo: Int64)
  /// The number of a row that hpeer did not write.
  case inserted(Int64)
  /// An event in the place of another number.
  case moved(event: Int64, to: Int64)
  /// The last event before the log begins. No event in the log records that the events up to it were pruned.
  case pruningNotRecorded(upTo: Int64)
  /// A peer's counted reads, not among the events yet, that have changed.
  case countChanged(peer: String, event: String)
  /// Counts of reads that were removed, inserted or recomputed.
  case countsRewritten
  /// The number of further damaged rows, beyond those that are listed.
  case more(Int)

  /// The first event number that the damage concerns, or `Int64.max` if there is none.
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
