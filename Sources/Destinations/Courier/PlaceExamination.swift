/// The result of ``Destination/examine()``: whether a place still has what it was given.
public enum PlaceExamination: Hashable, Sendable {
  /// It has what it was given, or it cannot tell.
  case intact
  /// Its values are of an earlier day, or cannot be read: ``Destination/mend()`` brings them up to date.
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
