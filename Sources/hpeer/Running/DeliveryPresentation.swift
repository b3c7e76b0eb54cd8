import Destinations
import HealthOperations
import Terminal

/// What `hpeer run` says of deliveries: a line when something is wrong, and nothing while all is well.
enum DeliveryPresentation {
  static func tell(_ destination: String, _ event: DeliveryEvent) {
    let name = PlainText.escaped(destination)
    let failed = EntryFields(.deliveryFailed, destination: destination)
    switch event {
    case .began: break
    case .courier(.failed(let reason, let pause)):
      Console.say(
        "\(name): \(PlainText.escaped(reason, limit: 300)); trying again in \(HumanFormat.duration(pause)).", .warning,
        failed)
    case .courier(.refused(let samples)):
      Console.say(
        "\(name): \(HumanFormat.count(samples.count, "sample")) refused: `hpeer destination rejected \(name)`.",
        .warning, EntryFields(.deliveryRefused, destination: destination))
    case .courier(.lost(let loss)):
      Console.say("\(name): \(PlainText.escaped(loss, limit: 300)).", .warning, failed)
    case .courier(.delivered): break
    case .ended(let error, let pause):
      let reason = ErrorText.line(ErrorText.of(error), named: name)
      Console.say("\(reason) Trying again in \(HumanFormat.duration(pause)).", .warning, failed)
    case .unreadableSettings(let error):
      Console.warn("the settings stay as they were: \(ErrorText.of(error))", EntryFields(.settingsRefused))
    }
  }
}
