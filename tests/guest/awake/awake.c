// SPDX-License-Identifier: GPL-2.0
/*
 * The disks of the guest stay awake in a suspend: 9p by virtio cannot sleep, and with it the
 * root file system would be gone.
 */
#include <linux/device.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/virtio_ids.h>

/* Of virtio before 1.0, where numbers are others, and since */
#define OLD_9P 0x1009
#define NEW_9P (0x1040 + VIRTIO_ID_9P)

static bool is_9p(const struct pci_dev *dev)
{
	return dev->device == OLD_9P || dev->device == NEW_9P;
}

static int set_awake(bool awake)
{
	struct pci_dev *dev = NULL;
	int n = 0;

	while ((dev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID,
				     dev))) {
		if (!is_9p(dev))
			continue;
		dev_pm_syscore_device(&dev->dev, awake);
		n++;
	}
	return n;
}

static int __init awake_init(void)
{
	return set_awake(true) ? 0 : -ENODEV;
}

static void __exit awake_exit(void)
{
	set_awake(false);
}

module_init(awake_init);
module_exit(awake_exit);
MODULE_DESCRIPTION("9p stays awake in a suspend");
MODULE_LICENSE("GPL");
