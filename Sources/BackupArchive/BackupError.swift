/// Why something is no backup of hpeer, or none that can be relied on. Each description is one sentence for a person.
public enum BackupError: Error, Hashable, Sendable {
  /// Neither encrypted by age nor compressed by Zstandard.
  case notABackup
  /// A newer hpeer wrote it.
  case newer(version: Int)
  /// Something in it is not as it was written.
  case damaged(String)
  /// It ends before its end.
  case cutOff
  /// What is in it does not have the checksum that its manifest says.
  case changed(file: String)
  /// A file that hpeer never puts into a backup of this kind, such as settings in an unencrypted one.
  case unexpected(file: String)
}

extension BackupError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notABackup: "This is no backup of hpeer: those are made by `hpeer backup`."
    case .newer(let version):
      "A newer hpeer made this backup (its version is \(version)): update hpeer on this machine."
    case .damaged(let reason): "The backup is damaged (\(reason)), and nothing of it was used: take another one."
    case .cutOff: "The backup ends before its end, and nothing of it was used: copy it again, or take another one."
    case .changed(let file):
      "\(file) in the backup is not what was written (its checksum is another), and nothing of it was used: take another backup."
    case .unexpected(let file):
      "The backup holds \(file), which hpeer puts only into encrypted ones of everything: somebody else made it, and nothing of it was used."
    }
  }
}
