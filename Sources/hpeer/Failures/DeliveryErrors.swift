import Destinations
import HealthOperations

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
