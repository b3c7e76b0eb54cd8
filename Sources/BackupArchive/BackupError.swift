/// An error that makes a backup unusable. Each description is a sentence for people.
public enum BackupError: Error, Hashable, Sendable {
  /// The file is neither encrypted by age nor compressed by Zstandard.
  case notABackup
  /// The backup was written by a newer hpeer.
  case newer(version: Int)
  /// The backup is malformed.
  case damaged(String)
  /// The backup is truncated.
  case cutOff
  /// A file does not have the checksum in the manifest.
  case changed(file: String)
  /// The backup contains a file that hpeer never puts into a backup of this kind, such as settings in an unencrypted
  /// one.
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
