import HealthOperations
import Terminal

extension ClockDifference {
  func warn() {
    let amount = HumanFormat.duration(.seconds(abs(seconds).rounded()))
    Console.warn(
      "this machine's clock is \(amount) \(seconds > 0 ? "ahead of" : "behind") the other's: codes and tokens may look expired."
    )
  }
}
