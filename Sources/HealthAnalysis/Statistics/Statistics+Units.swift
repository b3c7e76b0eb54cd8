import HealthModel

extension Statistics {
  /// Returns the statistics in another unit, or `nil` if the units do not convert.
  public func converted(to unit: String) -> Statistics? {
    guard unit != self.unit else { return self }
    guard let own = self.unit, let zero = UnitConversion.convert(0, from: own, to: unit),
      let one = UnitConversion.convert(1, from: own, to: unit)
    else { return nil }
    let factor = one - zero
    func convert(_ value: Double) -> Double { zero == 0 ? value * factor : value * factor + zero }
    var statistics = self
    statistics.unit = unit
    for index in values.indices {
      switch values[index].number {
      case .sum(var sum):
        sum.sum = convert(sum.sum)
        sum.readings *= factor
        statistics.values[index].number = .sum(sum)
      case .discrete(let found):
        statistics.values[index].number = .discrete(
          DiscreteValues(
            minimum: convert(found.minimum), maximum: convert(found.maximum), mean: found.mean.map(convert),
            meanOfSamples: convert(found.meanOfSamples), count: found.count, last: convert(found.last),
            readings: found.readings))
      }
    }
    return statistics
  }
}
