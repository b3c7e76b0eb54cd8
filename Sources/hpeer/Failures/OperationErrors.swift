import Destinations
import HealthOperations
import OperatingSystem
import Terminal

/// The exit codes of the commands that do the same.
extension AutomationFailure: WordedError {
  var status: ExitStatus {
    switch self {
    case .busy, .late, .program: .other
    case .noPeer, .noDestination, .nothingPaired: .refused
    case .cutOff, .tooMuchMemory: .badInput
    }
  }

  var sentence: String { description }
}

/// The exit code of the first failure, as for `pull --all`.
extension PartialAutomation: WordedError {
  var status: ExitStatus { .of(cause) }
  var sentence: String { description }
}

extension DeliveryError: WordedError {
  var status: ExitStatus {
    switch self {
    case .temporary: .temporary
    case .refused: .other
    case .unusable: .refused
    }
  }

  var sentence: String { "It cannot be delivered to: \(description)\(description.hasSuffix("?") ? "" : ".")" }
}

extension CourierError: WordedError {
  var status: ExitStatus {
    switch self {
    case .gaveUp: .temporary
    case .unusable: .refused
    }
  }

  var sentence: String { description }
}

extension DeliveryRefusal: WordedError {
  var status: ExitStatus {
    switch self {
    case .paused, .removed: .other
    case .busy: .storeLocked
    case .settings: .usage
    case .keeps: .refused
    }
  }

  var sentence: String { description }
}

extension SettingsFileError: WordedError {
  var status: ExitStatus { .usage }
  var sentence: String { description }
}

extension UserServiceError: WordedError {
  var status: ExitStatus {
    switch self {
    case .noSystemd, .noManager, .notInstalled: .unreachable
    case .running: .storeLocked
    case .unusablePath: .usage
    case .foreignUnit, .unknownProgram, .unwritable, .refused: .other
    }
  }

  var sentence: String {
    switch self {
    case .noSystemd:
      "There is no systemd on this machine, or `systemctl` is not in PATH: have what it starts programs with run `hpeer run`."
    case .noManager(let user, let reason):
      "No systemd runs for \(user) here (\(reason)): log in as \(user), not by su or sudo, or have it run without a login "
        + "with `sudo loginctl enable-linger \(ShellWord.quoted(user))`, then try again."
    case .foreignUnit(let path):
      "\(path) was not written by `hpeer service install`, so it stays as it is: manage it with `systemctl --user`, or move it away and try again."
    case .running(let process):
      "hpeer runs already for this record (process \(process)): end it first, so that the service can take its place."
    case .unusablePath(let path):
      "No systemd unit can name \(PlainText.escaped(path, limit: 4_096)): move it to a path without control characters."
    case .unknownProgram: "The path of this program cannot be read from /proc/self/exe. Is /proc mounted?"
    case .unwritable(let path, let reason): "\(path) cannot be written: \(reason)."
    case .refused(let command, let reason):
      "`\(command)` failed: \(PlainText.escaped(reason, limit: 300)); `hpeer service logs` may say why."
    case .notInstalled: "The service is not installed for this user. Install it with `hpeer service install`."
    }
  }
}
