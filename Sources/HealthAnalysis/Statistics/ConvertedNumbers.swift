import HealthModel
import HealthStore

/// A converter of sample values to a common unit, which counts the values that it leaves out.
struct ConvertedNumbers {
  private(set) var unit: String?
  private(set) var withoutNumber = 0
  private(set) var withoutUnit = 0
  /// The factor and the offset for each unit, by the unit's index; `nil` if the unit does not convert.
  private var scales: [(factor: Double, offset: Double)?] = []
  private let type: SampleType?

  /// Creates a converter.
  ///
  /// - Parameters:
  ///   - unit: the target unit, or `nil` for the unit of the first sample.
  ///   - type: the type of the samples, which gives `mmol/L` its molar mass; `nil` if the samples are of several
  ///     types.
  init(unit: String?, of type: SampleType? = nil) {
    self.unit = unit
    self.type = type
  }

  /// Returns the converted value, or `nil` if it is not a finite number or does not convert.
  ///
  /// - Parameter start: samples that end before are not counted if they are left out.
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
