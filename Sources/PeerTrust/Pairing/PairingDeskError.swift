/// Why the pairing desk cannot work.
public enum PairingDeskError: Error, Hashable, Sendable {
  /// The file that keeps the count of failed attempts cannot be read.
  case stateNotReadable(path: String, reason: String)
  /// The file that keeps the count of failed attempts cannot be written, so no window opens.
  case stateNotWritable(path: String, reason: String)
}

extension PairingDeskError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stateNotReadable(let path, let reason):
      "The pairing state \(path) cannot be read (\(reason)): make it readable for the user who runs hpeer."
    case .stateNotWritable(let path, let reason):
      "Pairing stays closed because \(path) cannot be written (\(reason)): free the disk or correct the permissions."
    }
  }
}
