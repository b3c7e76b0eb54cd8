/// Why nothing was restored; what is here is as it was.
public enum RestorationRefusal: Error, Hashable, Sendable {
  /// Something of what the backup holds is here already, at this path.
  case occupied(path: String)
  /// What the backup holds has no room.
  case noRoom(folder: String, needed: Int64, free: Int64)
  /// The record in the backup is not as hpeer writes it.
  case unsound(String)
}
