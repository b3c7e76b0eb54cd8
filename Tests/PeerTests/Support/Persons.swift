import Foundation
import HealthModel
import HealthStore

/// Personal characteristics, such as the date of birth, as an export contains them.
enum Persons {
  static func readings(_ birth: String, sex: String? = nil, blood: String? = nil, day: Int64 = 0) -> [Sample] {
    [(Person.Trait.dateOfBirth, birth), (.biologicalSex, sex), (.bloodType, blood)].compactMap { trait, value in
      guard let value else { return nil }
      let epoch = Timestamp(seconds: 0)
      var sample = Sample(
        uuid: SampleIdentity.namespace, type: trait.type, start: epoch, end: epoch,
        created: Timestamp(seconds: Samples.noon + day * 86_400), source: Source(name: "Health"),
        payload: .characteristic(CharacteristicValue(value: value)))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
  }

  static func person(_ birth: String, sex: String? = nil, blood: String? = nil) -> Person {
    var person = Person()
    (person[.dateOfBirth], person[.biologicalSex], person[.bloodType]) = (birth, sex, blood)
    return person
  }
}
