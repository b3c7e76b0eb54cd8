import HealthModel
import HealthStore

/// Numbers of samples in one unit.
struct ConvertedNumbers {
  private(set) var unit: String?
  private(set) var withoutNumber = 0
  private(set) var withoutUnit = 0
  /// By the index of a unit: what a value is multiplied by, and what is added then.
  private var scales: [(factor: Double, offset: Double)?] = []
  private let type: SampleType?

  /// - Parameters:
  ///   - unit: `nil` for that of the first sample.
  ///   - type: of the samples, which says what `mmol/L` is a unit of; `nil` where they are of several.
  init(unit: String?, of type: SampleType? = nil) {
    self.unit = unit
    self.type = type
  }

  /// - Parameter start: what ends before is not counted where it is left out.
  mutating func value(of sample: NumericSample, _ reader: NumberReader, countedFrom start: Int64 = .min) -> Double? {
    let isCounted = sample.start >= start || sample.end > start
    guard sample.value.isFinite else {
      if isCounted { withoutNumber += 1 }
      return nil
    }
    guard let index = sample.unit else { return sample.value }
    while scales.count <= index { scales.append(scale(from: reader.units[scales.count])) }
    guard let scale = scales[index] else {
      if isCounted { withoutUnit += 1 }
      return nil
    }
    return scale.offset == 0 ? sample.value * scale.factor : sample.value * scale.factor + scale.offset
  }

  private mutating func scale(from text: String) -> (factor: Double, offset: Double)? {
    let target = unit ?? text
    unit = target
    guard text != target else { return (1, 0) }
    let text = type.map { MolarUnit.long(text, of: $0) } ?? text
    guard let zero = UnitConversion.convert(0, from: text, to: target),
      let one = UnitConversion.convert(1, from: text, to: target)
    else { return nil }
    return (one - zero, zero)
  }
}
