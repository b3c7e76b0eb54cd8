import AgeEncryption
import BackupArchive
import HealthOperations
import OperatingSystem
import Terminal

extension AgeError: WordedError {
  var status: ExitStatus {
    switch self {
    case .noMatchingKey, .wrongPassphrase: .refused
    case .needsPassphrase, .needsKey, .badRecipient, .badKey, .noKeys, .noRecipients, .passphraseBesideOthers: .usage
    case .failed: .other
    case .notAge, .otherVersion, .malformedHeader, .malformedArmor, .tooMuchWork, .headerChanged, .cutOff, .damaged:
      .badInput
    }
  }

  var sentence: String { description }
}

extension BackupError: WordedError {
  var status: ExitStatus { .badInput }
  var sentence: String { description }
}

extension BackupRefusal: WordedError {
  var status: ExitStatus {
    switch self {
    case .busy: .storeLocked
    case .noRoom: .temporary
    case .diskFull: .other
    }
  }

  var sentence: String {
    switch self {
    case .busy: "Another backup of this record is being made: wait until it is done."
    case .noRoom(let folder, let needed, let free):
      "A backup needs \(HumanFormat.bytes(Int(needed))) in \(folder) for as long as it is made, and there are \(HumanFormat.bytes(Int(free))): make room."
    case .diskFull(let path):
      "The disk that is to hold \(path) is full, so nothing was written: make room, or name a file elsewhere."
    }
  }
}

extension RestorationRefusal: WordedError {
  var status: ExitStatus {
    switch self {
    case .occupied: .usage
    case .noRoom: .other
    case .unsound: .badInput
    case .declined: .interrupted
    }
  }

  var sentence: String {
    switch self {
    case .occupied(let path):
      "\(path) already exists, so nothing was restored. Use --replace to move it into a folder beside, or another --home."
    case .noRoom(let folder, let needed, let free):
      "The backup needs \(HumanFormat.bytes(Int(clamping: needed))) in \(folder), and there are \(HumanFormat.bytes(Int(free))): make room."
    case .unsound(let finding):
      "The record in the backup is damaged (\(finding)), so nothing of it was used: take another backup."
    case .declined: "Nothing was restored: --new-identity takes the record alone."
    }
  }
}
