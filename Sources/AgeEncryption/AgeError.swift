/// An error of encryption or decryption in age's format. Each description is a sentence for people.
public enum AgeError: Error, Hashable, Sendable {
  /// The file does not begin like a file of age.
  case notAge
  /// The file has another version of the format, given by its name.
  case otherVersion(String)
  /// The header is malformed; nothing was decrypted.
  case malformedHeader(String)
  /// The text between the armor's first and last lines is malformed.
  case malformedArmor
  /// The file is encrypted to recipients, and none of the keys belongs to one of them.
  case noMatchingKey
  /// The file is encrypted to a passphrase, and none was given.
  case needsPassphrase
  /// The file is encrypted to recipients, and no key was given.
  case needsKey
  case wrongPassphrase
  /// Hashing the passphrase would take more time and memory than is allowed.
  case tooMuchWork(factor: Int)
  /// The header was changed after it was written.
  case headerChanged
  /// The file is truncated.
  case cutOff
  /// A piece was changed, or the file is truncated. The pieces before it are as they were written.
  case damaged(piece: Int)
  /// The text is not a recipient (`age1…`).
  case badRecipient(String)
  /// This line of a key file is not a secret key (`AGE-SECRET-KEY-1…`).
  case badKey(line: Int)
  /// The key file contains no key.
  case noKeys
  /// The list of recipients is empty.
  case noRecipients
  /// A passphrase cannot be combined with other recipients.
  case passphraseBesideOthers
  /// Hashing the passphrase failed, probably because there is not enough memory.
  case failed(String)
}

extension AgeError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAge: "This is no file that age or hpeer encrypted."
    case .otherVersion(let name):
      "It is encrypted in a format that this version does not know (\(String(name.unicodeScalars.prefix(40)))): update hpeer, or decrypt it with a newer age."
    case .malformedHeader(let reason):
      "Its header is damaged (\(reason)), so nothing of it was used: take another copy."
    case .malformedArmor: "Its text is damaged, so it cannot be decoded: take another copy."
    case .noMatchingKey: "None of the keys opens it: give the file of the key whose recipient it was encrypted to."
    case .needsPassphrase: "It is encrypted to a passphrase: give that."
    case .needsKey: "It is encrypted to a key: name the file that holds it with --identity-file."
    case .wrongPassphrase: "The passphrase is wrong."
    case .tooMuchWork(let factor):
      "Its passphrase would take too long to hash (work factor \(factor), and at most \(ScryptStanza.mostWork) is taken): "
        + "if it is your own, decrypt it with `age -d` first."
    case .headerChanged: "Its header was changed after it was written, so nothing of it was used: take another copy."
    case .cutOff: "It ends before its end: copy it again, or take another copy."
    case .damaged(let piece): "It is damaged, or ends before its end (at piece \(piece) of 64 KiB): take another copy."
    case .badRecipient(let text):
      "\(String(text.unicodeScalars.prefix(80))) is no recipient: those of age begin with age1, and `age-keygen -y` prints them."
    case .badKey(let line): "Line \(line) of the file of keys is no key of age: those begin with AGE-SECRET-KEY-1."
    case .noKeys: "The file of keys holds no key: those of age begin with AGE-SECRET-KEY-1."
    case .noRecipients: "It would be encrypted to nobody: give a passphrase or a recipient."
    case .passphraseBesideOthers: "A file is encrypted to a passphrase or to recipients, not to both."
    case .failed(let reason): "The passphrase could not be hashed (\(reason)): there may not be enough memory."
    }
  }
}
