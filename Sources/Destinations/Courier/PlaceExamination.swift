/// What ``Destination/examine()`` finds out of a place: whether it still has what it was given.
public enum PlaceExamination: Hashable, Sendable {
  /// It has what it was given, or it cannot tell.
  case intact
  /// What it has was right yesterday, or nothing is known of it: ``Destination/mend()`` brings it up to date.
  case stale
  /// It has lost something that ``Destination/mend()`` gives back at once.
  ///
  /// - Parameter loss: what was lost, as the part of a sentence: `its sensors`.
  case incomplete(loss: String)
  /// It has lost what it was given, and everything is to be delivered again.
  ///
  /// - Parameter reason: how that is known, as the part of a sentence: `the file that hpeer left there is gone`.
  case lost(reason: String)
}
