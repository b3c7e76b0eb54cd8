import HealthAnalysis
import HealthModel
import HealthOperations
import OperatingSystem
import PeerClient
import QRPictures
import Terminal

/// An error with an exit code and a sentence for the person who has run the command. Operations know neither exit
/// codes nor commands.
protocol WordedError: Error {
  var status: ExitStatus { get }
  /// The sentence that says what happened and what to do next. It may quote anything.
  var sentence: String { get }
}

/// The exit code and the sentence for a file that no other error describes better.
extension SystemError: WordedError {
  var status: ExitStatus { .other }

  var sentence: String {
    "\(path) cannot be used (\(reason)): check the disk and the permissions, then run the command again."
  }
}

extension ExportError: WordedError {
  var status: ExitStatus {
    switch self {
    case .isFolder, .isNoFolder, .alreadyThere, .needsFile: .usage
    case .diskFull, .unwritable, .incomplete: .other
    }
  }

  var sentence: String {
    switch self {
    case .isFolder(let path): "\(path) is a folder; name a file in it."
    case .isNoFolder(let path): "\(path) is not a folder. Name a folder, or a path where one can be created."
    case .alreadyThere(let path): "\(path) is there already; name another file, or replace it with --force."
    case .needsFile(let format):
      "--format \(format.rawValue) is one file as it is; name it with --output, without --split and --compress."
    case .diskFull(let path):
      "The disk that is to hold \(path) is full, so nothing was written; make room and export again."
    case .unwritable(let path, let reason):
      "\(path) could not be written (\(reason)); check the folder and run the command again."
    case .incomplete(let type, let read, let held):
      "Of \(held) samples of \(type.shortName) in the store, \(read) were found one after the other, so nothing was written; "
        + "run `hpeer doctor --check-store`, which says what is wrong with it."
    }
  }
}

extension ReportPrinterError: WordedError {
  var status: ExitStatus { self == .noProgram ? .usage : .other }

  var sentence: String {
    switch self {
    case .noProgram:
      "A PDF file needs WeasyPrint or Chromium, and neither is installed: `sudo apt install weasyprint`, or name the file .html and print it in a browser."
    case .failed(let program, let said):
      "\(program) could not print the report\(said.isEmpty ? "" : " (\(said))"); name the file .html and print it in a browser."
    case .noFile(let reason):
      "The report could not be written for printing (\(reason)); check the disk and run the command again."
    }
  }
}

extension ImportRefusal: WordedError {
  var status: ExitStatus {
    switch self {
    case .noSnapshot: .usage
    case .anotherPerson, .snapshotOfAnotherPerson, .severalPersons, .changedMeanwhile: .badInput
    }
  }

  var sentence: String {
    switch self {
    case .noSnapshot(let file): "\(file) is no Apple Health export, and only those are snapshots of all there is."
    case .anotherPerson(let contradiction):
      "This file says \(PersonText.differences(contradiction)), so it seems to be another person's, and nothing was changed; "
        + "if it is the same person's, give --merge-person once, else import it into a store of its own with --home DIR."
    case .snapshotOfAnotherPerson:
      "This export is of a person with another date of birth or sex than earlier ones, so nothing was changed; "
        + "leave --snapshot out to add what it holds, or give --force if it is the same person."
    case .severalPersons(let file, let exports, let places, let difference):
      "\(file) holds \(exports) exports, of which \(places.joined(separator: " and ")) do not agree on the person's "
        + "\(difference), so nothing was imported; import the one that is yours by itself, unpacked where it is in a zip."
    case .changedMeanwhile:
      "This file says now that it is another person's than it said a moment ago, so no more of it was imported: wait until nothing writes into it any more, then import it again."
    }
  }
}

extension PairError: WordedError {
  var status: ExitStatus {
    switch self {
    case .anotherMachine: .certificateChanged
    case .codeAlone: .refused
    case .noCode, .severalCodes: .badInput
    }
  }

  var sentence: String {
    switch self {
    case .anotherMachine(let peer):
      "What answers at \(PlainText.escaped(peer)) is not the machine that the code is of: it shows another certificate, so "
        + "nothing was sent. Ask for a new code; should that say the same, someone on the network may be posing as it."
    case .codeAlone(let peer, let app):
      "\(PlainText.escaped(peer)) is an app (\(app)), and a code alone would be learned by whatever is in between, so nothing was "
        + "sent: give a picture of its QR code (`hpeer pair NAME --qr PICTURE`), paste the code's text (`hpeer pair NAME -`), or "
        + "add the fingerprint that it shows (--fingerprint)."
    case .noCode:
      "The machine there does not use such codes: hpeer and HealthAppTransfer show six digits, HealthSync eight characters."
    case .severalCodes(let places):
      "This picture shows the codes of several machines (\(places.map { PlainText.escaped($0, limit: 60) }.joined(separator: ", "))): "
        + "cut it down to the one that you mean, or run this on a terminal and choose."
    }
  }
}

extension QRPictureError: WordedError {
  var status: ExitStatus {
    switch self {
    case .unreadable, .noPicture, .tooLarge, .damaged, .nothingFound: .badInput
    case .missing, .failed: .other
    }
  }

  var sentence: String { description }
}

extension PairingWindowError: WordedError {
  var status: ExitStatus {
    switch self {
    case .locked, .closed: .windowClosed
    case .failed: .other
    case .serverStopped: .unreachable
    }
  }

  var sentence: String {
    switch self {
    case .locked: "Five wrong codes: the window is locked. Run this again to open a new one."
    case .closed(let reason): "The window closed (\(reason)) before anyone paired."
    case .failed(let message): PlainText.escaped(message, limit: 300)
    case .serverStopped: "The server stopped before anyone paired."
    }
  }
}

extension UnpairingNotSupported: WordedError {
  var status: ExitStatus { .other }
  var sentence: String { "\(self)" }
}

extension PartialPull: WordedError {
  /// The exit code. If the peer was locked in the middle, that matters more than what has arrived.
  var status: ExitStatus { (cause as? PeerError)?.category == .locked ? .peerLocked : .partial }

  var sentence: String {
    "\(ErrorText.sentence(cause)) \(HumanFormat.count(done.changes, "change")) arrived and are saved."
  }
}

extension VerificationCancelled: WordedError {
  var status: ExitStatus { .interrupted }
  var sentence: String { "Interrupted; the comparison was not finished, and changes nothing." }
}

extension ServeLockError: WordedError {
  var status: ExitStatus {
    switch self {
    case .held: .storeLocked
    case .unusable: .other
    }
  }

  var sentence: String {
    switch self {
    case .held(let holder):
      "hpeer is already serving this store\(holder.map { " (process \($0))" } ?? ""): stop it first, or give this one another store with --home."
    case .unusable(let path, let reason): "\(path) cannot be used: \(reason)."
    }
  }
}

extension StatisticsError: WordedError {
  /// The commands that have the numbers of types with several values, by type.
  private static let instead = [
    "bloodPressure": "`hpeer stats bloodPressureSystolic bloodPressureDiastolic` has its two numbers",
    "sleepAnalysis": "`hpeer sleep` has nights, and `hpeer sleep --by month` their means",
    "workout": "`hpeer workouts` lists them with their totals",
    "activitySummary": "`hpeer summary` has the rings of a day",
    "electrocardiogram": "`hpeer report` draws them",
  ]

  var status: ExitStatus { .usage }

  var sentence: String {
    switch self {
    case .noQuantity(let type) where Self.instead[type.shortName] != nil:
      "Samples of \(type.shortName) have no single number: \(Self.instead[type.shortName] ?? "")."
    case .noQuantity(let type):
      "Samples of \(type.shortName) have no numbers to add up or to average; `hpeer show \(type.shortName)` prints them."
    case .tooManyBuckets:
      "That would be more than \(HumanFormat.count(CalendarBuckets.maximumCount)) numbers: name a shorter time with --from and --to, or longer buckets with --by."
    }
  }
}

extension ZoneError: WordedError {
  var status: ExitStatus { .other }

  var sentence: String {
    switch self {
    case .unknown(let name):
      "The rules of the time zone \(name) are not in /usr/share/zoneinfo: `sudo apt install tzdata` brings them, or name another with --zone."
    case .malformed(let reason): "The rules of this time zone in /usr/share/zoneinfo cannot be read: \(reason)."
    }
  }
}

extension InboxCertificateError: WordedError {
  var status: ExitStatus { .other }

  var sentence: String {
    switch security {
    case .files(let certificate, let key):
      "The inbox cannot use \(certificate) with \(key) (\(reason)): --inbox-cert takes a certificate in PEM with those after it, --inbox-key its key."
    case .ownAuthority, .proxied, .insecure:
      "The inbox has no certificate (\(reason)): check the disk and the permissions."
    }
  }
}
